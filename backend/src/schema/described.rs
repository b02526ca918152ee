//! What a schema says of a place in a value, as far as `properties` and `$ref` lead.

use fencepost_identity::pointer::Pointer;
use serde_json::Value;

use super::Schema;

/// More references in a row than anybody writes: a circle.
const REFERENCES_MAX: usize = 32;

/// What a schema says of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Described<'s> {
    /// This.
    As(&'s Value),
    /// Other members are listed, and this one is not.
    NotListed,
    /// It lists none.
    Open,
}

impl Schema {
    /// What the schema says of what a pointer names.
    pub fn described(&self, pointer: &Pointer) -> Described<'_> {
        self.described_in(&self.document, pointer)
    }

    /// The same, from a part of the schema on.
    pub fn described_in<'s>(&'s self, part: &'s Value, pointer: &Pointer) -> Described<'s> {
        let mut at = part;
        for token in pointer.as_str().split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            match self.member(at, &name) {
                Described::As(inner) => at = inner,
                other @ (Described::NotListed | Described::Open) => return other,
            }
        }
        Described::As(at)
    }

    /// What the schema says of each item of an array; nothing, if a part does not describe one.
    pub fn items<'s>(&'s self, part: &'s Value) -> Option<&'s Value> {
        let is_array = self.says(part, "type")? == "array";
        is_array.then(|| self.says(part, "items"))?
    }

    /// The texts that a part allows, where it allows these alone, in the schema's order.
    pub fn words(&self, part: &Value) -> Option<Vec<String>> {
        let listed = self.says(part, "enum").and_then(Value::as_array);
        let listed = match (listed, self.says(part, "const")) {
            (Some(listed), _) => listed.as_slice(),
            (None, Some(only)) => std::slice::from_ref(only),
            (None, None) => return None,
        };
        let words = listed.iter().map(|word| word.as_str().map(str::to_owned));
        words.collect::<Option<Vec<_>>>().filter(|w| !w.is_empty())
    }

    fn member<'s>(&'s self, part: &'s Value, name: &str) -> Described<'s> {
        let mut lists_some = false;
        for part in self.referenced(part) {
            if let Some(properties) = part.get("properties") {
                if let Some(inner) = properties.get(name) {
                    return Described::As(inner);
                }
                lists_some = true;
            }
        }
        if lists_some {
            Described::NotListed
        } else {
            Described::Open
        }
    }

    /// What a part says under a keyword, itself or where it refers to.
    fn says<'s>(&'s self, part: &'s Value, keyword: &str) -> Option<&'s Value> {
        self.referenced(part).find_map(|part| part.get(keyword))
    }

    /// A part, what it refers to, what that refers to, and so on; inside this document.
    fn referenced<'s>(&'s self, part: &'s Value) -> impl Iterator<Item = &'s Value> {
        let next = |part: &&'s Value| {
            let place = part.get("$ref")?.as_str()?.strip_prefix('#')?;
            self.document.pointer(place)
        };
        std::iter::successors(Some(part), next).take(REFERENCES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{
        "type": "object",
        "properties": {
            "list": { "$ref": "#/$defs/list" },
            "one": { "const": "a" },
            "any": {},
            "circle": { "$ref": "#/$defs/circle" }
        },
        "$defs": {
            "list": { "type": "array", "items": { "$ref": "#/$defs/item" } },
            "item": { "properties": {
                "level": { "$ref": "#/$defs/level" }, "n": { "enum": ["a", 1] }, "t": true
            } },
            "level": { "enum": ["low", "high"] },
            "circle": { "$ref": "#/$defs/circle" }
        }
    }"##;

    #[test]
    fn a_list_and_closed_words_are_found_through_references() {
        let schema = Schema::compile(SCHEMA.as_bytes()).unwrap();
        let pointer = |text: &str| Pointer::new(text).unwrap();
        let Described::As(list) = schema.described(&pointer("/list")) else {
            panic!("it is described")
        };
        let item = schema.items(list).unwrap();
        let of_item = |text: &str| schema.described_in(item, &pointer(text));
        let Described::As(level) = of_item("/level") else {
            panic!("it is described")
        };
        assert_eq!(schema.words(level).unwrap(), ["low", "high"]);
        for (text, expected) in [("/n", None), ("/t", None)] {
            let Described::As(part) = of_item(text) else {
                panic!("{text}")
            };
            assert_eq!(schema.words(part), expected, "{text}");
        }
        assert_eq!(of_item("/other"), Described::NotListed);
        let Described::As(one) = schema.described(&pointer("/one")) else {
            panic!("it is described")
        };
        assert_eq!(schema.words(one).unwrap(), ["a"]);
        assert_eq!(schema.items(one), None);
        for text in ["/any/x", "/circle/x"] {
            assert_eq!(schema.described(&pointer(text)), Described::Open, "{text}");
        }
    }
}
