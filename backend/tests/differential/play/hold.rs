//! What holders do, with leases that may be stale.

use fencepost::store::{Commitment, Fetched, KeptInput, RawAnswer, Rejection, Release};

use super::{
    super::{
        command::{Holding, Pick},
        engine::Engine,
        tell::{plainly, told},
    },
    Answers, Play, nothing,
};

impl<D: Engine> Play<'_, D> {
    /// Does something with a lease; nothing, while there is none.
    pub(super) async fn hold(&mut self, pick: Pick, holding: Holding) -> Answers {
        let count = self.leases.len();
        let Some(back) = pick.checked_rem(count) else {
            return nothing();
        };
        let place = count - 1 - back;
        match holding {
            Holding::Heartbeat => self.heartbeat(place).await,
            Holding::KeepInput(fetched) => self.keep_input(place, fetched).await,
            Holding::StoreRaw(answer) => self.store_raw(place, answer).await,
            Holding::Commit(value) => self.commit(place, value).await,
            Holding::Reject(rejection) => self.reject(place, rejection).await,
            Holding::Release(release) => self.release(place, release).await,
            Holding::LoseReply => {
                self.lose_reply(place).await;
                nothing()
            }
            Holding::SetBack => {
                self.set_back(place).await;
                nothing()
            }
        }
    }

    async fn heartbeat(&mut self, place: usize) -> Answers {
        let (lease, hold) = &self.leases[place];
        let got = self.store.heartbeat(lease).await;
        let expected = self.reference.heartbeat(hold);
        let (store, reference) = self.clocks();
        (told(got, |held| store.held(held)), reference.held(expected))
    }

    async fn keep_input(&mut self, place: usize, fetched: Fetched) -> Answers {
        let (lease, hold) = &self.leases[place];
        let got = self.store.keep_input(lease, fetched.clone()).await;
        let expected = self.reference.keep_input(hold, fetched);
        (told(got, input), input(expected))
    }

    async fn store_raw(&mut self, place: usize, answer: RawAnswer) -> Answers {
        let (lease, hold) = &self.leases[place];
        let got = self.store.store_raw(lease, answer.clone()).await;
        let expected = self.reference.store_raw(hold, answer);
        let (store, reference) = self.clocks();
        (told(got, |held| store.held(held)), reference.held(expected))
    }

    async fn commit(&mut self, place: usize, value: Commitment) -> Answers {
        let (lease, hold) = self.leases.remove(place);
        let got = self.store.commit(lease, value.clone()).await;
        let expected = self.reference.commit(&hold, value);
        (told(got, plainly), plainly(expected))
    }

    async fn reject(&mut self, place: usize, rejection: Rejection) -> Answers {
        let (lease, hold) = self.leases.remove(place);
        let got = self.store.reject(lease, rejection.clone()).await;
        let expected = self.reference.reject(&hold, rejection);
        let (store, reference) = self.clocks();
        (
            told(got, |rejected| store.rejected(rejected)),
            reference.rejected(expected),
        )
    }

    async fn release(&mut self, place: usize, release: Release) -> Answers {
        let (lease, hold) = self.leases.remove(place);
        let got = self.store.release(lease, release.clone()).await;
        let expected = self.reference.release(&hold, release);
        let (store, reference) = self.clocks();
        (
            told(got, |released| store.released(released)),
            reference.released(expected),
        )
    }
}

/// What was kept, in full: its `Debug` leaves the text out.
fn input(kept: KeptInput) -> String {
    match kept {
        KeptInput::Kept(input) => format!("kept {input:?}"),
        KeptInput::Lost(lost) => plainly(lost),
    }
}
