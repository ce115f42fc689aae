package dev.tollgate.wire;

import java.util.List;

/** One or more of every message. */
final class Samples {
  private static final Reply.ClusterView VIEW =
      new Reply.ClusterView("h1:7400", List.of("h1:7400", "[::1]:7401"));
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.ANY, 10_000);

  static final List<Request> REQUESTS =
      List.of(
          new Request.Hello(1, 3, "shop", "web-1", "4711 2026-11-20T00:00:00Z"),
          new Request.OpenSession(60_000, 15_000, OPTIONS),
          new Request.AttachSession(
              7, -8, true, new Request.SessionOptions(ReadConsistency.LEADER, Long.MAX_VALUE)),
          new Request.CloseSession(),
          new Request.Prepare("SELECT '\u00e4\ud83d\ude00'"),
          new Request.Execute(
              1,
              true,
              TransactionMode.SERIALIZABLE,
              false,
              "UPDATE t SET a=?",
              new KeyRequest.None(),
              0,
              0,
              List.of(new byte[] {0, 0})),
          new Request.Execute(
              Long.MAX_VALUE,
              false,
              TransactionMode.AUTOCOMMIT,
              true,
              "",
              new KeyRequest.Names(List.of("ID", "")),
              10,
              20,
              List.of(new byte[0], new byte[] {1, 2, 3})),
          new Request.Execute(
              2,
              false,
              TransactionMode.READ_COMMITTED,
              true,
              "X",
              new KeyRequest.Positions(List.of(1, 2)),
              0,
              0,
              List.of()),
          new Request.Execute(
              3,
              false,
              TransactionMode.AUTOCOMMIT,
              false,
              "X",
              new KeyRequest.Generated(),
              0,
              0,
              List.of(new byte[0])),
          new Request.Fetch(5, 100),
          new Request.CloseCursor(5),
          new Request.Metadata(14, new byte[] {9, 8}),
          new Request.Heartbeat(List.of(1L, Long.MIN_VALUE), List.of()),
          new Request.Cancel(1, 2, 3),
          new Request.Ping(),
          new Request.ReleaseOwnLease(),
          new Request.OpenSnapshot(true),
          new Request.ReadSnapshot(Long.MAX_VALUE, 1),
          new Request.AskNodeStatus(),
          new Request.AwaitHolder("job", -1),
          new Request.AwaitLeader(7),
          new Request.WatchLocks(List.of(3L, 3L), List.of(41L, Long.MAX_VALUE)),
          new Request.ExecuteSeries(
              4,
              true,
              TransactionMode.SERIALIZABLE,
              SeriesEnding.COMMIT,
              List.of(
                  new Request.SeriesStatement("UPDATE t SET a=?", new byte[] {0, 0}),
                  new Request.SeriesStatement("", new byte[0]))),
          new Request.BeginLogin("SCRAM-SHA-256", new byte[] {'n', ',', ','}),
          new Request.BeginLogin("EXTERNAL", new byte[0]),
          new Request.OpenSession(60_000, 15_000, OPTIONS, "Europe/Berlin"),
          new Request.AttachSession(7, -8, false, OPTIONS, 12),
          new Request.ContinueLogin(new byte[] {1}));

  static final List<Reply> REPLIES =
      List.of(
          new Reply.Welcome(1, "n1", VIEW, null, 0),
          new Reply.Welcome(1, "", new Reply.ClusterView(null, List.of()), null, 0),
          new Reply.Welcome(2, "n1", VIEW, "0c6e", 0),
          new Reply.Welcome(2, "n1", VIEW, null, 0),
          new Reply.Welcome(5, "n1", VIEW, "0c6e", 7),
          new Reply.SessionReady(17, -1),
          new Reply.Prepared(true, 66, new byte[] {0, 0}, new byte[] {1}),
          new Reply.Result(new byte[] {4, 5}),
          new Reply.BatchResult(
              List.of(
                  new Reply.Result(new byte[] {1}),
                  new Reply.Failure(SqlState.STALE_TOKEN, "token 41"),
                  new Reply.Result(new byte[0]))),
          new Reply.HeartbeatAck(List.of(1L), List.of(2L, 3L)),
          new Reply.Ok(),
          new Reply.Failure("23505", 23_505, "no"),
          new Reply.NotLeader(VIEW),
          new Reply.Lost(List.of(), List.of(9L)),
          new Reply.ClusterChanged(VIEW),
          new Reply.SnapshotOpened("n2", 3, 17, 1 << 20, -1, new byte[] {7}),
          new Reply.SnapshotPart(new byte[] {1, 2, 3}),
          new Reply.Holder(0, null),
          new Reply.Holder(42, "worker 7"),
          new Reply.Leader(7, "n1", VIEW),
          new Reply.LocksLost(List.of(3L), List.of(41L)),
          new Reply.LoginRequired(6, List.of("SCRAM-SHA-256", "EXTERNAL")),
          new Reply.LoginChallenge(new byte[] {'r', '='}),
          new Reply.LoggedIn(new byte[] {'v'}, new Reply.Welcome(6, "n1", VIEW, "0c6e", 7)),
          new Reply.NodeStatus("n1", "CANDIDATE", null, 3, 17, -1, "poison", List.of()),
          new Reply.NodeStatus(
              "n1",
              "FOLLOWER",
              "n2",
              3,
              17,
              18,
              null,
              List.of(
                  new Reply.NodeStatus.Member("n1", "h:1", null, null),
                  new Reply.NodeStatus.Member("n2", "h:2", "h:3", 120L))));

  private Samples() {}

  static Frame frame(Request request) {
    WireWriter body = new WireWriter();
    request.write(body);
    return new Frame(request.type(), 1, 0, body.toByteArray());
  }

  static Frame frame(Reply reply) {
    WireWriter body = new WireWriter();
    reply.write(body);
    return new Frame(reply.type(), 1, 0, body.toByteArray());
  }
}
