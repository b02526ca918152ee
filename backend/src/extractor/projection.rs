//! A pipeline's schema in the words that a provider takes.
//!
//! An answer is judged by the pipeline's own schema, whatever was sent. What a provider does not
//! know is therefore left out, and told to the model in the `description` where a few words can say
//! it. Some providers know only objects whose members are all listed, or all required; a schema
//! that would mean something else then is refused when the pipeline is loaded, and nothing that a
//! model answers is ever changed to make it fit.

mod keyword;
mod limit;
mod problem;

use serde_json::{Map, Value, json};

use self::{
    keyword::{Rule, rule},
    limit::Size,
};
pub use self::{
    limit::Limit,
    problem::{Problem, Unprojectable},
};

/// Part of what a classifier version is bound to: raised when another schema is made of the same.
pub const VERSION: u32 = 1;

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `OpenAI`'s with `strict`, and those of its twin at another vendor: every member of an object
    /// is listed and required, and the schema has its limits.
    OpenAiStrict,
    /// Servers that resemble it, each of which knows some keywords and stumbles over others.
    Lenient,
    /// Anthropic's structured output: every member of an object is listed, few bounds are known.
    Anthropic,
    /// Bedrock's structured output, which knows the same words.
    Bedrock,
    /// Gemini's `responseJsonSchema`.
    Gemini,
}

impl Dialect {
    /// Whether an object has no members but those that are listed.
    fn closes_objects(self) -> bool {
        match self {
            Self::OpenAiStrict | Self::Anthropic | Self::Bedrock => true,
            Self::Lenient | Self::Gemini => false,
        }
    }

    /// Whether each schema has to say of which type a value is.
    fn wants_types(self) -> bool {
        self != Self::Lenient
    }
}

/// The schema as it is sent. It is the same for the same schema at every start.
///
/// # Errors
/// [`Unprojectable`]: the first place that can't be said in these words, for whoever wrote it.
pub fn project(schema: &Value, dialect: Dialect) -> Result<Value, Unprojectable> {
    let mut projection = Projection {
        dialect,
        root: schema,
        path: Vec::new(),
        levels: 0,
        size: Size::default(),
    };
    if dialect == Dialect::OpenAiStrict {
        for choice in ["anyOf", "oneOf"] {
            if schema.get(choice).is_some() {
                return Err(projection.refused(Problem::ChoiceAtTheTop));
            }
        }
    }
    projection.schema(schema)
}

struct Projection<'a> {
    dialect: Dialect,
    root: &'a Value,
    /// Where in the schema, from the top level on.
    path: Vec<String>,
    /// How many objects and arrays stand around this one, itself included.
    levels: usize,
    size: Size,
}

impl Projection<'_> {
    fn refused(&self, problem: Problem) -> Unprojectable {
        Unprojectable::new(self.dialect, &self.path, problem)
    }

    fn at<T>(
        &mut self,
        token: &str,
        below: impl FnOnce(&mut Self) -> Result<T, Unprojectable>,
    ) -> Result<T, Unprojectable> {
        self.path.push(token.to_owned());
        let done = below(self)?;
        self.path.pop();
        Ok(done)
    }

    fn schema(&mut self, schema: &Value) -> Result<Value, Unprojectable> {
        let Some(source) = schema.as_object() else {
            // `true` and `false`.
            return match self.dialect.wants_types() {
                true => Err(self.refused(Problem::NoType)),
                false => Ok(json!({})),
            };
        };
        if self.dialect.wants_types()
            && let Some(target) = source.get("$ref")
        {
            return self.reference(source, target);
        }
        let is_container = is_object(source) || is_array(source);
        self.levels += usize::from(is_container);
        if self.dialect == Dialect::OpenAiStrict {
            let counted = self.size.count(source, self.levels);
            counted.map_err(|limit| self.refused(Problem::Limit(limit)))?;
        }
        let projected = self.keywords(source)?;
        self.levels -= usize::from(is_container);
        Ok(Value::Object(projected))
    }

    /// A reference stands alone there. What only explains is left out, what rules can't be.
    fn reference(
        &self,
        source: &Map<String, Value>,
        target: &Value,
    ) -> Result<Value, Unprojectable> {
        let explains = |name: &String| name == "$ref" || keyword::only_explains(name);
        if !source.keys().all(explains) {
            return Err(self.refused(Problem::BesideReference));
        }
        let text = target.as_str().unwrap_or_default();
        if text != "#" && !text.starts_with("#/$defs/") {
            return Err(self.refused(Problem::ReferenceElsewhere));
        }
        Ok(json!({ "$ref": target }))
    }

    fn keywords(
        &mut self,
        source: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Unprojectable> {
        let mut out = Map::new();
        let mut told = Vec::new();
        for (name, value) in source {
            let rule = if self.path.is_empty() && name == "$id" {
                Rule::Drop
            } else {
                rule(self.dialect, name, value, source)
            };
            let (name, value) = match rule {
                Rule::Drop => continue,
                Rule::Tell => {
                    told.push(format!("{name}: {value}"));
                    continue;
                }
                Rule::Refuse(keyword) => return Err(self.refused(Problem::Keyword(keyword))),
                Rule::Keep => (name.as_str(), value.clone()),
                Rule::Values => ("enum", json!([value])),
                Rule::Schema => (name.as_str(), self.at(name, |it| it.schema(value))?),
                Rule::Members => (name.as_str(), self.at(name, |it| it.members(value))?),
                Rule::Schemas => (name.as_str(), self.at(name, |it| it.each(value))?),
                Rule::Choice if source.contains_key("anyOf") => {
                    return Err(self.refused(Problem::TwoChoices));
                }
                Rule::Choice => ("anyOf", self.at(name, |it| it.each(value))?),
            };
            out.insert(name.to_owned(), value);
        }
        self.add_type(source, &mut out)?;
        self.close(source, &mut out)?;
        // However the library keeps the order of members.
        told.sort_unstable();
        tell(&told, &mut out);
        Ok(out)
    }

    fn members(&mut self, members: &Value) -> Result<Value, Unprojectable> {
        let mut out = Map::new();
        for (name, member) in members.as_object().into_iter().flatten() {
            out.insert(name.clone(), self.at(name, |it| it.schema(member))?);
        }
        Ok(Value::Object(out))
    }

    fn each(&mut self, schemas: &Value) -> Result<Value, Unprojectable> {
        let mut out = Vec::new();
        for (index, schema) in schemas.as_array().into_iter().flatten().enumerate() {
            out.push(self.at(&index.to_string(), |it| it.schema(schema))?);
        }
        Ok(Value::Array(out))
    }

    /// Says the type where the schema leaves it to be seen.
    fn add_type(
        &self,
        source: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Unprojectable> {
        let says = |name: &str| out.contains_key(name);
        if !self.dialect.wants_types() || says("type") || says("anyOf") {
            return Ok(());
        }
        let seen = keyword::type_of_values(source);
        let seen = seen.or_else(|| is_object(source).then(|| json!("object")));
        let seen = seen.or_else(|| is_array(source).then(|| json!("array")));
        let seen = seen.ok_or_else(|| self.refused(Problem::NoType))?;
        out.insert("type".to_owned(), seen);
        Ok(())
    }

    /// What an object and an array have to say besides.
    fn close(
        &mut self,
        source: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Result<(), Unprojectable> {
        if self.path.is_empty() {
            // An answer with another member is not taken, whatever the schema leaves open.
            out.insert("additionalProperties".to_owned(), json!(false));
        }
        let chooses = source.contains_key("anyOf") || source.contains_key("oneOf");
        if self.dialect.closes_objects() && chooses && source.contains_key("properties") {
            return Err(self.refused(Problem::ChoiceBesideMembers));
        }
        if self.dialect == Dialect::OpenAiStrict && is_array(source) && !out.contains_key("items") {
            return Err(self.refused(Problem::NoItems));
        }
        if !self.dialect.closes_objects() || !is_object(source) {
            return Ok(());
        }
        let empty = Map::new();
        let listed = source.get("properties").and_then(Value::as_object);
        let listed = listed.unwrap_or(&empty);
        let others = source.get("additionalProperties");
        let closed = self.path.is_empty() || others == Some(&json!(false));
        // Left open beside listed members, it is closed: an answer that fits is one still. As a map
        // from names to values it would be emptied.
        let is_map = match others {
            None | Some(Value::Bool(_)) => listed.is_empty(),
            Some(others) => others.as_object().is_some_and(|rules| !rules.is_empty()),
        };
        if is_map && !closed {
            return Err(self.refused(Problem::OpenMembers));
        }
        let required = source.get("required").and_then(Value::as_array);
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if required.iter().any(|name| !listed.contains_key(*name)) {
            return Err(self.refused(Problem::UnlistedMember));
        }
        if self.dialect == Dialect::OpenAiStrict {
            for (name, member) in listed {
                if !required.contains(&name.as_str()) && !admits_null(member, self.root, REFERENCES)
                {
                    self.path.extend(["properties".to_owned(), name.clone()]);
                    return Err(self.refused(Problem::OptionalMember));
                }
            }
            let mut names: Vec<&String> = listed.keys().collect();
            names.sort_unstable();
            out.insert("required".to_owned(), json!(names));
        }
        out.entry("properties").or_insert_with(|| json!({}));
        out.insert("additionalProperties".to_owned(), json!(false));
        Ok(())
    }
}

/// What was left out, for the model to know.
fn tell(told: &[String], out: &mut Map<String, Value>) {
    if told.is_empty() {
        return;
    }
    let told = told.join(", ");
    let description = match out.get("description").and_then(Value::as_str) {
        Some(description) => format!("{description} ({told})"),
        None => format!("({told})"),
    };
    out.insert("description".to_owned(), json!(description));
}

fn is_object(source: &Map<String, Value>) -> bool {
    let speaks_of_members = ["properties", "additionalProperties", "required"];
    names_type(source, "object")
        || !source.contains_key("type")
            && speaks_of_members
                .iter()
                .any(|name| source.contains_key(*name))
}

fn is_array(source: &Map<String, Value>) -> bool {
    let speaks_of_items = ["items", "prefixItems"];
    names_type(source, "array")
        || !source.contains_key("type")
            && speaks_of_items
                .iter()
                .any(|name| source.contains_key(*name))
}

fn names_type(source: &Map<String, Value>, name: &str) -> bool {
    match source.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => false,
    }
}

/// How many references in a row are followed.
const REFERENCES: usize = 16;

/// Whether null satisfies the schema, as far as that can be seen.
fn admits_null(schema: &Value, root: &Value, references: usize) -> bool {
    let Some(source) = schema.as_object() else {
        return schema == &json!(true);
    };
    if let Some(target) = source.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|to| root.pointer(to));
        let Some(left) = references.checked_sub(1) else {
            return false;
        };
        return found.is_some_and(|found| admits_null(found, root, left));
    }
    let by_type = !source.contains_key("type") || names_type(source, "null");
    let among = source.get("enum").and_then(Value::as_array);
    let by_values = among.is_none_or(|values| values.contains(&Value::Null))
        && source.get("const").is_none_or(Value::is_null);
    let by_choice = |name: &str| {
        let choices = source.get(name).and_then(Value::as_array);
        choices.is_none_or(|all| all.iter().any(|one| admits_null(one, root, references)))
    };
    by_type && by_values && by_choice("anyOf") && by_choice("oneOf")
}

#[cfg(test)]
mod tests;
