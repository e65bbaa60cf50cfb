//! A unix socket that wakes its user only for arrivals.

use std::cell::RefCell;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::gate::Gate;

/// Maximum bytes of one read.
const MOST: usize = 16 * 1024;

thread_local! {
    /// Read buffer for all sessions of a thread: it stays in the CPU's cache.
    static ARRIVALS: RefCell<Box<[u8; MOST]>> = RefCell::new(Box::new([0; MOST]));
}

/// What the runtime watches for the socket.
#[derive(Debug)]
enum Watched {
    Socket(Arc<UnixStream>),
    Gate(Gate),
}

impl AsRawFd for Watched {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Socket(socket) => socket.as_raw_fd(),
            Self::Gate(gate) => gate.as_raw_fd(),
        }
    }
}

/// A connected unix socket.
///
/// tokio's own stream always waits for write space as well. For a unix socket the kernel reports
/// that whenever the server has read something, so the thread would wake twice per batch.
#[derive(Debug)]
pub struct UnixSocket {
    stream: Arc<UnixStream>,
    /// Readable on arrivals, unless a gate selects other events.
    watch: AsyncFd<Watched>,
    /// The same socket, watched for write space; set once there was none.
    room: Option<AsyncFd<UnixStream>>,
}

impl UnixSocket {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn connect(path: &Path) -> io::Result<Self> {
        Self::new(tokio::net::UnixStream::connect(path).await?.into_std()?)
    }

    fn new(stream: UnixStream) -> io::Result<Self> {
        let stream = Arc::new(stream);
        let watch = watched(Watched::Socket(Arc::clone(&stream)), Interest::READABLE)?;
        Ok(Self { stream, watch, room: None })
    }

    /// Stops wake-ups on arrivals, until [`listen`](Self::listen) or a write that finds no space. A
    /// write and [`poll_taken`](Self::poll_taken) must follow.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn hush(&mut self) -> io::Result<()> {
        if let Watched::Socket(_) = self.watch.get_ref() {
            let gate = Gate::new(&*self.stream)?;
            self.watch = watched(Watched::Gate(gate), Interest::READABLE)?;
        }
        let Watched::Gate(gate) = self.watch.get_ref() else { return Ok(()) };
        gate.open_for_room(&*self.stream)
    }

    /// Resumes wake-ups on arrivals.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn listen(&self) -> io::Result<()> {
        let Watched::Gate(gate) = self.watch.get_ref() else { return Ok(()) };
        gate.open_for_arrivals(&*self.stream)
    }

    /// Waits until the server has read everything sent, or is gone. May return too early.
    pub fn poll_taken(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.watch.poll_read_ready(context))?.clear_ready();
        Poll::Ready(Ok(()))
    }

    /// Appends available data to `into`, if any. Does not report the end of the connection.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn take(&self, into: &mut BytesMut) -> io::Result<()> {
        ARRIVALS.with_borrow_mut(|arrivals| match (&*self.stream).read(&mut arrivals[..]) {
            Ok(bytes) => {
                into.extend_from_slice(&arrivals[..bytes]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Appends available data to `into`; 0 bytes if the server has closed the connection.
    pub fn poll_read(
        &self,
        context: &mut Context<'_>,
        into: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        ARRIVALS.with_borrow_mut(|arrivals| {
            loop {
                let mut guard = ready!(self.watch.poll_read_ready(context))?;
                let Ok(read) = guard.try_io(|_| (&*self.stream).read(&mut arrivals[..])) else {
                    continue;
                };
                if let Ok(bytes) = read {
                    into.extend_from_slice(&arrivals[..bytes]);
                    // A short read drained the socket. Reading again would cost a system call.
                    if 0 < bytes && bytes < MOST {
                        guard.clear_ready();
                    }
                }
                return Poll::Ready(read);
            }
        })
    }

    /// Sends a part of `bytes`.
    pub fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.room.is_none() {
            match (&*self.stream).write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.listen()?,
                written => return Poll::Ready(written),
            }
            let same = self.stream.try_clone()?;
            self.room = Some(watched(same, Interest::WRITABLE)?);
        }
        let Some(room) = &self.room else { return Poll::Pending };
        loop {
            let mut guard = match room.poll_write_ready(context) {
                Poll::Ready(guard) => guard?,
                Poll::Pending => {
                    self.listen()?;
                    return Poll::Pending;
                }
            };
            if let Ok(written) = guard.try_io(|stream| stream.get_ref().write(bytes)) {
                return Poll::Ready(written);
            }
        }
    }
}

fn watched<T: AsRawFd>(source: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    #[allow(deprecated, reason = "its successor is unsafe; both types here own what they watch")]
    AsyncFd::with_interest(source, interest)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use std::task::{Wake, Waker};

    use super::*;

    /// Counts the wake-ups of a task.
    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn on_runtime<T>(body: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(body)
    }

    fn pair() -> (UnixSocket, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (UnixSocket::new(ours).unwrap(), theirs)
    }

    async fn read(socket: &UnixSocket, into: &mut BytesMut) -> io::Result<usize> {
        poll_fn(|context| socket.poll_read(context, into)).await
    }

    /// Lets the runtime process the kernel's events until none is left.
    async fn turn() {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn a_server_that_takes_what_was_sent_wakes_nobody() {
        on_runtime(async {
            let (mut socket, mut server) = pair();
            let counted = Arc::new(Wakes::default());
            let waker = Waker::from(Arc::clone(&counted));
            let mut context = Context::from_waker(&waker);
            let mut into = BytesMut::new();
            for round in 1..=3 {
                assert!(socket.poll_write(&mut context, b"question").is_ready());
                assert!(socket.poll_read(&mut context, &mut into).is_pending());
                server.read_exact(&mut [0; 8]).unwrap();
                turn().await;
                assert_eq!(counted.0.load(Relaxed), round - 1, "nothing to read yet");
                // The runtime gets no event either: it would have woken for it.
                assert!(socket.watch.poll_write_ready(&mut context).is_pending());
                server.write_all(b"answer").unwrap();
                turn().await;
                assert_eq!(counted.0.load(Relaxed), round);
                assert!(socket.poll_read(&mut context, &mut into).is_ready());
            }
            assert_eq!(&into[..], b"answeransweranswer");
        });
    }

    #[test]
    fn answers_to_the_first_commands_of_a_hushed_batch_wake_nobody() {
        on_runtime(async {
            let (mut socket, mut server) = pair();
            let counted = Arc::new(Wakes::default());
            let waker = Waker::from(Arc::clone(&counted));
            let mut context = Context::from_waker(&waker);
            let mut into = BytesMut::new();
            for round in 0..3 {
                socket.hush().unwrap();
                assert!(socket.poll_write(&mut context, b"onetwoend").is_ready());
                assert!(socket.poll_taken(&mut context).is_pending());
                for _ in 0..2 {
                    server.read_exact(&mut [0; 3]).unwrap();
                    server.write_all(b"answer").unwrap();
                    turn().await;
                }
                assert_eq!(counted.0.load(Relaxed), 2 * round, "the last one is not taken");
                server.read_exact(&mut [0; 3]).unwrap();
                turn().await;
                assert_eq!(counted.0.load(Relaxed), 2 * round + 1);
                assert!(socket.poll_taken(&mut context).is_ready());
                socket.take(&mut into).unwrap();
                assert_eq!(&into[..], b"answeranswer");
                socket.listen().unwrap();
                assert!(socket.poll_read(&mut context, &mut into).is_pending());
                server.write_all(b"answer").unwrap();
                turn().await;
                assert_eq!(counted.0.load(Relaxed), 2 * round + 2);
                assert!(socket.poll_read(&mut context, &mut into).is_ready());
                assert_eq!(&into[..], b"answeransweranswer");
                into.clear();
            }
        });
    }

    #[test]
    fn a_hushed_socket_tells_of_answers_before_it_listened_and_of_the_end() {
        on_runtime(async {
            let (mut socket, mut server) = pair();
            let mut into = BytesMut::new();
            for _ in 0..3 {
                socket.hush().unwrap();
                assert!(
                    poll_fn(|context| Poll::Ready(socket.poll_write(context, b"all")))
                        .await
                        .is_ready()
                );
                server.read_exact(&mut [0; 3]).unwrap();
                poll_fn(|context| socket.poll_taken(context)).await.unwrap();
                socket.take(&mut into).unwrap();
                // Between the last read and the call to listen.
                server.write_all(b"answer").unwrap();
                socket.listen().unwrap();
                assert_eq!(read(&socket, &mut into).await.unwrap(), 6);
            }
            socket.hush().unwrap();
            drop(server);
            poll_fn(|context| socket.poll_taken(context)).await.unwrap();
            socket.take(&mut into).unwrap();
            socket.listen().unwrap();
            assert_eq!(read(&socket, &mut into).await.unwrap(), 0);
        });
    }

    #[test]
    fn a_hushed_socket_that_takes_no_more_listens() {
        on_runtime(async {
            let (mut socket, mut server) = pair();
            socket.hush().unwrap();
            let all = vec![7; 4 << 20];
            let mut rest = &all[..];
            poll_fn(|context| {
                while let Poll::Ready(bytes) = socket.poll_write(context, rest) {
                    rest = &rest[bytes.unwrap()..];
                }
                Poll::Ready(())
            })
            .await;
            server.write_all(b"answer").unwrap();
            let mut into = BytesMut::new();
            assert_eq!(read(&socket, &mut into).await.unwrap(), 6);
        });
    }

    #[test]
    fn more_than_one_read_takes_arrives_whole_and_then_the_end() {
        on_runtime(async {
            let (socket, mut server) = pair();
            let sent: Vec<u8> = (0..5 * MOST + 7).map(|at| at as u8).collect();
            let expected = sent.clone();
            let sender = std::thread::spawn(move || server.write_all(&sent).unwrap());
            let mut into = BytesMut::new();
            while read(&socket, &mut into).await.unwrap() > 0 {}
            sender.join().unwrap();
            assert!(into[..] == expected[..]);
        });
    }

    #[test]
    fn a_server_that_takes_nothing_is_waited_for() {
        on_runtime(async {
            let (mut socket, mut server) = pair();
            let all = vec![7; 4 << 20];
            let mut rest = &all[..];
            let mut send = pin!(poll_fn(|context| {
                while !rest.is_empty() {
                    let bytes = ready!(socket.poll_write(context, rest))?;
                    rest = &rest[bytes..];
                }
                Poll::Ready(io::Result::Ok(()))
            }));
            tokio::select! {
                biased;
                _ = &mut send => panic!("nobody reads"),
                () = turn() => {}
            }
            let reader = std::thread::spawn(move || {
                let mut taken = vec![0; 4 << 20];
                server.read_exact(&mut taken).unwrap();
                taken
            });
            send.await.unwrap();
            assert!(reader.join().unwrap() == all);
        });
    }
}
