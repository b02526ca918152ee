//! The variables that the component can ask for.

use crate::manifest::{Component, Declaration, Manifest};
use crate::template::{Template, UnclosedBraces};
use std::collections::BTreeMap;
use thiserror::Error;

/// Every value, resolved at the start.
///
/// Values are often secrets, so this has no `Debug`.
#[derive(Default)]
pub struct Variables {
    application: BTreeMap<String, String>,
    component: BTreeMap<String, String>,
}

/// Why the values of a manifest's variables are not complete.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum VariablesError {
    /// Required variables that nobody gave a value.
    #[error("no value for the required variable(s) {}", .0.join(", "))]
    Missing(Vec<String>),
    /// A variable with neither `default` nor `required`.
    #[error("the variable {0} has neither a `default` nor `required = true`")]
    NeitherForm(String),
    /// A name that Spin would not take.
    #[error("{name:?} is no name of a variable: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A template names a variable that the application does not declare.
    #[error("{user} uses the variable {name:?}, which is not declared in [variables]")]
    Undeclared {
        /// What uses it.
        user: String,
        /// The name.
        name: String,
    },
    /// A template cannot be read.
    #[error(transparent)]
    Template(#[from] UnclosedBraces),
}

/// Why the component gets no value.
#[derive(Debug, PartialEq, Eq)]
pub enum NoValue {
    /// Not a name that a variable can have.
    InvalidName(&'static str),
    /// The manifest does not list it for this component.
    Undefined,
}

impl Variables {
    /// Resolves the manifest's variables.
    ///
    /// A value comes from `given`, else from `environment` under the name `SPIN_VARIABLE_…`, else
    /// from the manifest's default. Names in `given` that the manifest lacks are ignored, as Spin
    /// does.
    pub fn resolve(
        manifest: &Manifest,
        given: &BTreeMap<String, String>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, VariablesError> {
        let mut application = BTreeMap::new();
        let mut missing = Vec::new();
        for (name, declaration) in &manifest.variables {
            check_name(name)?;
            let supplied = || environment(&format!("SPIN_VARIABLE_{}", name.to_ascii_uppercase()));
            match given.get(name).cloned().or_else(supplied) {
                Some(value) => {
                    application.insert(name.clone(), value);
                }
                None => match declaration {
                    Declaration { required: true, .. } => missing.push(name.clone()),
                    Declaration {
                        default: Some(value),
                        ..
                    } => {
                        application.insert(name.clone(), value.clone());
                    }
                    Declaration { default: None, .. } => {
                        return Err(VariablesError::NeitherForm(name.clone()));
                    }
                },
            }
        }
        if !missing.is_empty() {
            return Err(VariablesError::Missing(missing));
        }
        let mut variables = Self {
            application,
            component: BTreeMap::new(),
        };
        variables.component = variables.of_component(&manifest.component)?;
        Ok(variables)
    }

    fn of_component(
        &self,
        component: &Component,
    ) -> Result<BTreeMap<String, String>, VariablesError> {
        let mut values = BTreeMap::new();
        for (name, template) in &component.variables {
            check_name(name)?;
            values.insert(
                name.clone(),
                self.render(template, &format!("the variable {name}"))?,
            );
        }
        Ok(values)
    }

    /// Puts the application's values into a text of the manifest. `user` says whose text it is.
    pub fn render(&self, text: &str, user: &str) -> Result<String, VariablesError> {
        let template = Template::parse(text)?;
        let value_of = |name: &str| self.application.get(name).map(String::as_str);
        template
            .render(value_of)
            .map_err(|name| VariablesError::Undeclared {
                user: user.to_owned(),
                name: name.to_owned(),
            })
    }

    /// What the component gets when it asks for `name`.
    pub fn get(&self, name: &str) -> Result<&str, NoValue> {
        name_fault(name).map_or(Ok(()), |reason| Err(NoValue::InvalidName(reason)))?;
        self.component
            .get(name)
            .map(String::as_str)
            .ok_or(NoValue::Undefined)
    }
}

fn check_name(name: &str) -> Result<(), VariablesError> {
    match name_fault(name) {
        None => Ok(()),
        Some(reason) => Err(VariablesError::Name {
            name: name.to_owned(),
            reason,
        }),
    }
}

/// What keeps `name` from being a variable's name: it has to fit an environment variable.
fn name_fault(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        Some("it must begin with a lower-case letter")
    } else if !name.chars().all(allowed) {
        Some("only lower-case letters, digits and underscores are allowed")
    } else if name.ends_with('_') || name.contains("__") {
        Some("an underscore stands alone between two other characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
