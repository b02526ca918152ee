//! Instances that several requests share, with Spin's limits.

use crate::instance::{Grants, LoadError, Loaded, State};
use crate::log;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;
use wasmtime::component::GuestTaskId;
use wasmtime::{Engine, Store, StoreContextMut};
use wasmtime_wasi_http::WasiHttpView as _;
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, Proxy, ProxyHandler, ShouldAccept, WorkerExpiration, WorkerState,
    WorkerStatus,
};
use wasmtime_wasi_http::p3::bindings::ServicePre;

/// Requests that one instance answers before another takes its place.
pub const REQUESTS_PER_INSTANCE: usize = 128;
/// Requests that one instance answers at the same time.
pub const REQUESTS_AT_ONCE: usize = 16;
/// How long an instance without requests is kept.
pub const IDLE: Duration = Duration::from_secs(1);

/// Far enough for a timer that is set before it is waited for.
const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Makes instances on demand; the handler around it decides when.
pub struct Pool {
    engine: Engine,
    service: ServicePre<State>,
    grants: Grants,
    stopping: Arc<AtomicBool>,
}

impl Pool {
    /// From now on an instance that ends early is no failure: the host itself is ending.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

/// Gives requests to the instances of one component.
pub type Handler = ProxyHandler<Pool>;

/// A handler for the component, or why it is none that Spin would serve.
pub fn handler(loaded: &Loaded, grants: Grants) -> Result<Handler, LoadError> {
    let service = loaded
        .linker
        .instantiate_pre(&loaded.component)
        .and_then(ServicePre::new)
        .map_err(|error| LoadError::Engine(format!("{error:#}")))?;
    Ok(ProxyHandler::new(Pool {
        engine: loaded.engine.clone(),
        service,
        grants,
        stopping: Arc::default(),
    }))
}

impl HandlerState for Pool {
    type StoreData = State;
    type WorkerExpiration = Expiration;
    type WorkerState = Worker;

    async fn instantiate(&self) -> wasmtime::Result<Instance<State, Expiration, Worker>> {
        let mut store = self.grants.store(&self.engine)?;
        let proxy = Proxy::P3(self.service.instantiate_async(&mut store).await?);
        Ok(Instance {
            store,
            proxy,
            view: State::http,
            expiration: Expiration::new(),
            state: Worker {
                stopping: Arc::clone(&self.stopping),
            },
        })
    }
}

/// Ends an instance that has nothing to do. One with requests is never ended: Spin's default.
pub struct Expiration {
    timer: Pin<Box<Sleep>>,
}

impl Expiration {
    fn new() -> Self {
        Self {
            timer: Box::pin(tokio::time::sleep(NEVER)),
        }
    }
}

impl WorkerExpiration for Expiration {
    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        status: WorkerStatus,
        since: Instant,
    ) -> Poll<()> {
        match status {
            WorkerStatus::Requests | WorkerStatus::PostReturn => Poll::Pending,
            WorkerStatus::Idle => {
                self.timer.as_mut().reset((since + IDLE).into());
                self.timer.as_mut().poll(context)
            }
        }
    }
}

/// Decides for one instance which requests it takes.
pub struct Worker {
    stopping: Arc<AtomicBool>,
}

impl WorkerState for Worker {
    type StoreData = State;
    type RequestData = ();

    fn should_accept_request(&self, at_once: usize, so_far: usize) -> ShouldAccept {
        if so_far >= REQUESTS_PER_INSTANCE {
            ShouldAccept::Never
        } else if at_once >= REQUESTS_AT_ONCE {
            ShouldAccept::No
        } else {
            ShouldAccept::Yes
        }
    }

    fn on_request_start(
        &self,
        _store: StoreContextMut<'_, State>,
        (): (),
        _task: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + 'static + Send + Sync>> {
        Box::pin(std::future::pending())
    }

    fn drop(&self, store: Store<State>, result: wasmtime::Result<()>) {
        if let Err(error) = result
            && !self.stopping.load(Ordering::Relaxed)
        {
            log("instance_failed", &[("error", &format!("{error:#}"))]);
        }
        drop(store);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    #[test]
    fn an_instance_takes_requests_up_to_its_limits() {
        let worker = Worker {
            stopping: Arc::default(),
        };
        let accepts = |at_once, so_far| match worker.should_accept_request(at_once, so_far) {
            ShouldAccept::Yes => "yes",
            ShouldAccept::No => "not now",
            ShouldAccept::Never => "never again",
        };
        assert_eq!(accepts(0, 0), "yes");
        assert_eq!(accepts(15, 127), "yes");
        assert_eq!(accepts(16, 127), "not now");
        assert_eq!(accepts(0, 128), "never again");
        assert_eq!(accepts(16, 128), "never again");
    }

    #[tokio::test(start_paused = true)]
    async fn an_instance_ends_after_a_second_without_requests() {
        let mut expiration = Expiration::new();
        let start = tokio::time::Instant::now().into_std();
        let mut poll = |status| {
            let mut context = Context::from_waker(Waker::noop());
            Pin::new(&mut expiration).poll(&mut context, status, start)
        };
        assert_eq!(poll(WorkerStatus::Idle), Poll::Pending);
        tokio::time::advance(Duration::from_millis(998)).await;
        assert_eq!(poll(WorkerStatus::Idle), Poll::Pending);
        assert_eq!(poll(WorkerStatus::Requests), Poll::Pending);
        tokio::time::advance(Duration::from_millis(3)).await;
        assert_eq!(poll(WorkerStatus::Requests), Poll::Pending);
        assert_eq!(poll(WorkerStatus::Idle), Poll::Ready(()));
    }
}
