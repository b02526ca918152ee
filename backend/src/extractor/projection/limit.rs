//! How large a schema may be where the provider has limits.

use serde_json::{Map, Value};

/// The limits of `OpenAI`'s strict schemas.
const LEVELS_MAX: usize = 10;
const PROPERTIES_MAX: usize = 5_000;
const VALUES_MAX: usize = 1_000;
const CHARACTERS_MAX: usize = 120_000;

/// Which limit a schema is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Objects and arrays inside one another.
    #[error("more than {LEVELS_MAX} objects and arrays stand inside one another; make it flatter")]
    Levels,
    /// Members of all objects.
    #[error("the schema lists more than {PROPERTIES_MAX} members")]
    Properties,
    /// Values of all `enum`s.
    #[error("the schema lists more than {VALUES_MAX} values in `enum`")]
    Values,
    /// Names and values together.
    #[error("names and values of the schema have more than {CHARACTERS_MAX} characters")]
    Characters,
}

/// How much there is of a schema so far.
#[derive(Default)]
pub(super) struct Size {
    properties: usize,
    values: usize,
    characters: usize,
}

impl Size {
    /// Counts what stands in one schema, without those below.
    pub(super) fn count(
        &mut self,
        source: &Map<String, Value>,
        levels: usize,
    ) -> Result<(), Limit> {
        if levels > LEVELS_MAX {
            return Err(Limit::Levels);
        }
        for holder in ["properties", "$defs"] {
            let members = source.get(holder).and_then(Value::as_object);
            for name in members.into_iter().flat_map(Map::keys) {
                self.properties += usize::from(holder == "properties");
                self.characters += name.chars().count();
            }
        }
        let listed = source.get("enum").and_then(Value::as_array);
        let listed = listed.into_iter().flatten();
        for value in listed.chain(source.get("const")) {
            self.values += 1;
            self.characters += value.as_str().map_or(0, |text| text.chars().count());
        }
        if self.properties > PROPERTIES_MAX {
            return Err(Limit::Properties);
        }
        if self.values > VALUES_MAX {
            return Err(Limit::Values);
        }
        match self.characters > CHARACTERS_MAX {
            true => Err(Limit::Characters),
            false => Ok(()),
        }
    }
}
