//! One bounded lock-free queue for every ordered pair of shards.
//!
//! A sender never waits: what does not fit is kept in its outbox and offered again. A receiver
//! empties its queues whenever it steps, whether or not it can use the messages yet, so every
//! outbox drains in the end and no cycle of full queues can form. What is in flight is bounded by
//! the number of blocks that may be read ahead ([`super::progress::Progress::may_claim`]).

use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam::queue::ArrayQueue;
use crossbeam::sync::{Parker, Unparker};

use super::Message;

struct Mesh<P> {
    shards: usize,
    /// Queue from shard `i` to shard `j` at `i * shards + j`.
    queues: Vec<ArrayQueue<Message<P>>>,
    unparkers: Vec<Unparker>,
}

/// One shard's end of the mesh.
pub struct Endpoint<P> {
    mesh: Arc<Mesh<P>>,
    shard: usize,
    outbox: Vec<VecDeque<Message<P>>>,
    /// Where this shard sleeps; any send to it, and [`Endpoint::wake_all`], wakes it.
    parker: Option<Parker>,
}

/// Endpoints for `shards` shards; `capacity` messages a queue.
pub fn endpoints<P>(shards: usize, capacity: usize) -> Vec<Endpoint<P>> {
    let parkers: Vec<Parker> = (0..shards).map(|_| Parker::new()).collect();
    let mesh = Arc::new(Mesh {
        shards,
        queues: (0..shards * shards).map(|_| ArrayQueue::new(capacity)).collect(),
        unparkers: parkers.iter().map(|parker| parker.unparker().clone()).collect(),
    });
    let endpoint = |(shard, parker)| Endpoint {
        mesh: mesh.clone(),
        shard,
        outbox: (0..shards).map(|_| VecDeque::new()).collect(),
        parker: Some(parker),
    };
    parkers.into_iter().enumerate().map(endpoint).collect()
}

impl<P: Send + 'static> Endpoint<P> {
    pub fn shard(&self) -> usize {
        self.shard
    }
    pub fn shards(&self) -> usize {
        self.mesh.shards
    }

    /// The place to sleep; may be taken once, by the thread that runs the shard.
    pub fn take_parker(&mut self) -> Option<Parker> {
        self.parker.take()
    }

    /// Sends, or keeps for later where the queue is full. Messages to one shard keep their order.
    pub fn send(&mut self, to: usize, message: Message<P>) {
        self.outbox[to].push_back(message);
        self.flush_to(to);
    }

    /// Offers again what was kept. True if anything moved.
    pub fn flush(&mut self) -> bool {
        let mut moved = false;
        for to in 0..self.shards() {
            moved |= self.flush_to(to);
        }
        moved
    }

    /// Messages kept because a queue was full.
    pub fn kept(&self) -> usize {
        self.outbox.iter().map(VecDeque::len).sum()
    }

    fn flush_to(&mut self, to: usize) -> bool {
        let queue = &self.mesh.queues[self.shard * self.mesh.shards + to];
        let mut moved = false;
        while let Some(message) = self.outbox[to].pop_front() {
            if let Err(message) = queue.push(message) {
                self.outbox[to].push_front(message);
                break;
            }
            moved = true;
        }
        if moved && to != self.shard {
            self.mesh.unparkers[to].unpark();
        }
        moved
    }

    /// Takes everything that has arrived. True if anything did.
    pub fn drain(&self, mut take: impl FnMut(usize, Message<P>)) -> bool {
        let mut any = false;
        for from in 0..self.shards() {
            while let Some(message) = self.mesh.queues[from * self.mesh.shards + self.shard].pop() {
                take(from, message);
                any = true;
            }
        }
        any
    }

    /// Wakes every shard, from whatever thread.
    pub fn waker(&self) -> Box<dyn Fn() + Send + Sync> {
        let mesh = self.mesh.clone();
        Box::new(move || mesh.unparkers.iter().for_each(Unparker::unpark))
    }

    /// Wakes every other shard: something that all of them watch has changed.
    pub fn wake_all(&self) {
        for (shard, unparker) in self.mesh.unparkers.iter().enumerate() {
            if shard != self.shard {
                unparker.unpark();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(seq: u64) -> Message<()> {
        Message { port: 0, seq, parts: Vec::new() }
    }

    #[test]
    fn a_full_queue_keeps_messages_in_order_in_the_outbox() {
        let mut ends = endpoints(2, 1);
        let receiver = ends.pop().unwrap();
        let mut sender = ends.pop().unwrap();
        for seq in 0..5 {
            sender.send(1, message(seq));
        }
        assert_eq!(sender.kept(), 4);
        let mut got = Vec::new();
        while got.len() < 5 {
            receiver.drain(|from, message| got.push((from, message.seq)));
            sender.flush();
        }
        assert_eq!(got, (0..5).map(|seq| (0, seq)).collect::<Vec<_>>());
    }

    #[test]
    fn a_sleeping_shard_wakes_for_a_message() {
        for _ in 0..200 {
            let mut ends = endpoints(2, 4);
            let mut receiver = ends.pop().unwrap();
            let mut sender = ends.pop().unwrap();
            let parker = receiver.take_parker().unwrap();
            let thread = std::thread::spawn(move || {
                let mut got = 0;
                while got < 100 {
                    if !receiver.drain(|_, _| got += 1) {
                        parker.park();
                    }
                }
            });
            for seq in 0..100 {
                sender.send(1, message(seq));
            }
            while sender.kept() > 0 {
                sender.flush();
                std::thread::yield_now();
            }
            thread.join().unwrap();
        }
    }
}
