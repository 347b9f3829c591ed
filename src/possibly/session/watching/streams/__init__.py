"""Durable streams between programs and their monitor: NATS JetStream and Redis Streams.

    messages     what passes through a stream, and the ports that a server is spoken to through
    nats_stream, redis_stream   the two servers, by their own clients (`possibly[nats]`, `possibly[redis]`)
    servers      which of them an address means
    outbox       a sender's lines on disk, until the server has them
    publishing   the thread that takes them there
    checkpoint   what a monitor knows, saved whole
    following    the loop: take in, save, acknowledge

Law: a line counts once. A sender numbers its lines, and a monitor knows how many it has of each sender; it
acknowledges what it has saved. So whatever dies, every line is in an outbox, in the stream or in a
checkpoint, and what comes again is left out.
"""
