package dev.tollgate.log;

/** How the nodes of a cluster talk with each other. Nodes that differ in this do not. */
public enum RaftTransport {
  /** The messages of Ratis over plain sockets. */
  TCP,
  /** The gRPC transport of Ratis, which was the only one before. */
  GRPC
}
