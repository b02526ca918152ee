//! Loading the component, and what each of its instances is given.

use crate::bindings::variables::spin::variables::variables::{Error, Host, HostWithStore};
use crate::files::{self, FilesError};
use crate::manifest::Manifest;
use crate::outbound::{AllowedHosts, OutboundError};
use crate::send::{Clients, Outbound};
use crate::surroundings::{Clock, Stderr};
use crate::variables::{NoValue, Variables};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use thiserror::Error as ThisError;
use wasmtime::component::{Accessor, Component, HasData, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// A compiled component and everything that it can import.
pub struct Loaded {
    pub(crate) engine: Engine,
    pub(crate) component: Component,
    pub(crate) linker: Linker<State>,
}

/// The component cannot be loaded. wasmtime's errors are kept as text: they are for people.
#[derive(Debug, ThisError)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no component that wasmtime can compile.
    #[error("{}: {reason}", path.display())]
    Compile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The engine cannot be set up on this machine.
    #[error("wasmtime: {0}")]
    Engine(String),
}

impl Loaded {
    /// Reads and compiles the component; takes a second or so.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        let bytes = std::fs::read(path).map_err(|source| LoadError::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut config = Config::new();
        config.wasm_component_model_async(true);
        let engine = Engine::new(&config).map_err(|e| LoadError::Engine(format!("{e:#}")))?;
        let component = Component::new(&engine, bytes).map_err(|error| LoadError::Compile {
            path: path.to_owned(),
            reason: format!("{error:#}"),
        })?;
        let linker = linker(&engine).map_err(|e| LoadError::Engine(format!("{e:#}")))?;
        Ok(Self {
            engine,
            component,
            linker,
        })
    }
}

fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi::p3::add_to_linker(&mut linker)?;
    wasmtime_wasi_http::p3::add_to_linker(&mut linker)?;
    crate::bindings::variables::spin::variables::variables::add_to_linker::<_, VariablesOf>(
        &mut linker,
        |state: &mut State| VariablesView(&state.variables),
    )?;
    Ok(linker)
}

/// What the manifest grants to every instance of the component.
#[derive(Default)]
pub struct Grants {
    variables: Arc<Variables>,
    hosts: Arc<AllowedHosts>,
    environment: BTreeMap<String, String>,
    /// Lives as long as the instances that read it.
    files: Option<TempDir>,
    clients: Arc<Clients>,
    clock: Clock,
    stderr: Stderr,
}

/// The manifest asks for something that cannot be granted.
#[derive(Debug, ThisError)]
pub enum GrantError {
    /// See [`OutboundError`].
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    /// See [`FilesError`].
    #[error(transparent)]
    Files(#[from] FilesError),
}

impl Grants {
    /// What `manifest` grants with these values.
    pub fn of(manifest: &Manifest, variables: Variables) -> Result<Self, GrantError> {
        let component = &manifest.component;
        Ok(Self {
            hosts: Arc::new(AllowedHosts::resolve(
                &component.allowed_outbound_hosts,
                &variables,
            )?),
            variables: Arc::new(variables),
            environment: component.environment.clone(),
            files: files::lay_out(&manifest.folder, &component.files)?,
            clients: Arc::default(),
            clock: Clock::default(),
            stderr: Stderr::default(),
        })
    }

    /// The same with another clock, and another place for what the component logs.
    #[must_use]
    pub fn within(self, clock: Clock, stderr: Stderr) -> Self {
        Self {
            clock,
            stderr,
            ..self
        }
    }

    /// A store for one instance. The component's stdout is the host's.
    pub(crate) fn store(&self, engine: &Engine) -> wasmtime::Result<Store<State>> {
        let mut wasi = WasiCtxBuilder::new();
        wasi.inherit_stdout();
        self.clock.give(&mut wasi);
        self.stderr.give(&mut wasi);
        for (name, value) in &self.environment {
            wasi.env(name, value);
        }
        if let Some(files) = &self.files {
            wasi.preopened_dir(files.path(), "/", FsPerms::ReadOnly)?;
        }
        let state = State {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            http: WasiHttpCtx::new(),
            outbound: Outbound::new(Arc::clone(&self.hosts), Arc::clone(&self.clients)),
            variables: Arc::clone(&self.variables),
        };
        Ok(Store::new(engine, state))
    }
}

/// The host's side of one instance.
pub struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    http: WasiHttpCtx,
    outbound: Outbound,
    variables: Arc<Variables>,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: &mut self.outbound,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}

/// Ties the variables to the generated traits.
struct VariablesOf;

struct VariablesView<'a>(&'a Arc<Variables>);

impl HasData for VariablesOf {
    type Data<'a> = VariablesView<'a>;
}

impl Host for VariablesView<'_> {}

impl<T: Send> HostWithStore<T> for VariablesOf {
    async fn get(accessor: &Accessor<T, Self>, name: String) -> Result<String, Error> {
        let variables = accessor.with(|mut access| Arc::clone(access.get().0));
        match variables.get(&name) {
            Ok(value) => Ok(value.to_owned()),
            Err(NoValue::InvalidName(reason)) => Err(Error::InvalidName(reason.to_owned())),
            Err(NoValue::Undefined) => Err(Error::Undefined(name)),
        }
    }
}
