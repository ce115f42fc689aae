package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftTransport;
import org.junit.jupiter.api.Tag;

/** The same over gRPC. */
@Tag("nightly")
class RatisLogOverGrpcTest extends RatisLogTest {
  @Override
  RaftTransport transport() {
    return RaftTransport.GRPC;
  }
}
