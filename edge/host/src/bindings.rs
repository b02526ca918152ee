//! Bindings generated from WIT: what the host offers of Spin, and what the component exports of
//! ours. WASI's own come with wasmtime.

/// `spin:variables@3.0.0`, offered to the component.
#[expect(missing_docs, reason = "generated; documented in the WIT file")]
pub mod variables {
    wasmtime::component::bindgen!({
        path: "wit/spin-variables.wit",
        world: "variables-host",
        imports: { default: async | store },
    });
}

/// `fencepost:identity/keys@1.0.0`, exported by the component.
#[expect(missing_docs, reason = "generated; documented in the WIT file")]
pub mod keys {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "edge",
        exports: { default: async },
    });
}
