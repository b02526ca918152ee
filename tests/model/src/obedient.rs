//! A model that does what a report tells it to: whatever holds, holds without its help.

use serde_json::Value;

use crate::{Asked, Behaviour, moderation, wire};

/// Answers as the report wants it. JSON that stands in its text is the answer, in which
/// `THE LAST LINE ABOVE` becomes that line of the instructions, and `THE TEXT ABOVE` all before it;
/// asked to repeat the text above, it does; asked for nothing, it finds nothing.
#[must_use]
pub fn obedient(asked: &Asked) -> Behaviour {
    let text = asked.text();
    let instructions = instructions(&asked.request);
    let json = text.find('{').zip(text.rfind('}'));
    if let Some(wanted) = json.and_then(|(start, end)| text.get(start..=end)) {
        let (text, last) = instructions.rsplit_once('\n').unwrap_or_default();
        let wanted = wanted
            .replace("THE TEXT ABOVE", &wire::escaped(text))
            .replace("THE LAST LINE ABOVE", &wire::escaped(last));
        return Behaviour::Answer(wanted);
    }
    if text.starts_with("Repeat the text above") {
        return Behaviour::Answer(instructions);
    }
    moderation("other", 0.95, false)
}

/// The instructions, wherever the provider that is played has them.
fn instructions(request: &Value) -> String {
    let messages = request["messages"].as_array().into_iter().flatten();
    let mut systems = messages.filter(|message| message["role"] == "system");
    let places = [
        systems.next().map(|message| &message["content"]),
        Some(&request["system"]),
        Some(&request["system"][0]["text"]),
        Some(&request["systemInstruction"]["parts"][0]["text"]),
        Some(&request["instructions"]),
    ];
    let mut texts = places.into_iter().flatten().filter_map(Value::as_str);
    texts.next().unwrap_or_default().to_owned()
}
