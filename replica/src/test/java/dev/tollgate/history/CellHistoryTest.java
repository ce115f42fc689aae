package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.history.Answer.Nothing;
import dev.tollgate.history.Answer.Refused;
import dev.tollgate.history.Answer.Unknown;
import dev.tollgate.history.CellRequest.Acquire;
import dev.tollgate.history.CellRequest.ForceRelease;
import dev.tollgate.history.CellRequest.HoldsLock;
import dev.tollgate.history.CellRequest.Read;
import dev.tollgate.history.CellRequest.ReadToken;
import dev.tollgate.history.CellRequest.Release;
import dev.tollgate.history.CellRequest.Renew;
import dev.tollgate.history.CellRequest.Revoke;
import dev.tollgate.history.CellRequest.Write;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Histories of locks and registers that a cluster may give, and others that it may not. */
class CellHistoryTest {
  private static final long A = 1;
  private static final long B = 2;
  private static final Answer TRUE = Answer.of(true);
  private static final Answer FALSE = Answer.of(false);
  private static final Answer NULL = new Nothing();
  private static final Answer LOST = new Unknown();
  private static final Answer GONE = new Refused("55T01");
  private static final Answer STALE = new Refused("23T01");

  /**
   * A history, and the request that cannot be explained.
   *
   * @param expected part of an anomaly, or "" if all can be explained
   */
  private record Case(String name, String expected, List<CellCall> calls, Map<Long, Long> ends) {
    Case(String name, String expected, CellCall... calls) {
      this(name, expected, List.of(calls), Map.of());
    }

    /** From then on this lease may end by itself. */
    Case mayEnd(long lease, long nanos) {
      return new Case(name, expected, calls, Map.of(lease, nanos));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static CellCall call(
      long from, long until, int cell, CellRequest request, Answer answer) {
    return new CellCall("C", cell, request, answer, from, until);
  }

  /** One at a time: a request that begins at this moment and has ended at the next. */
  private static CellCall at(long moment, CellRequest request, Answer answer) {
    return call(10 * moment, 10 * moment + 5, 0, request, answer);
  }

  private static CellRequest acquire(long lease) {
    return new Acquire(lease, true);
  }

  private static CellRequest write(long value) {
    return new Write(OptionalLong.empty(), value, OptionalLong.empty());
  }

  private static CellRequest swap(long expected, long value) {
    return new Write(OptionalLong.of(expected), value, OptionalLong.empty());
  }

  private static CellRequest fenced(long value, long token) {
    return new Write(OptionalLong.empty(), value, OptionalLong.of(token));
  }

  private static CellRequest read() {
    return new Read();
  }

  private static Answer token(long token) {
    return Answer.of(token);
  }

  static Stream<Case> good() {
    return Stream.of(
        new Case(
            "one holder after the other",
            "",
            at(1, acquire(A), token(5)),
            at(2, acquire(A), token(5)),
            at(3, acquire(B), NULL),
            at(4, new ReadToken(), token(5)),
            at(5, new Release(A), TRUE),
            at(6, new Release(A), FALSE),
            at(7, new ReadToken(), NULL),
            at(8, acquire(B), token(9))),
        new Case(
            "a waiting request is granted at the release",
            "",
            at(1, acquire(A), token(5)),
            call(20, 60, 0, acquire(B), token(6)),
            call(30, 40, 0, new Release(A), TRUE)),
        new Case(
            "registers",
            "",
            at(1, write(1), TRUE),
            at(2, swap(1, 2), TRUE),
            at(3, swap(1, 3), FALSE),
            at(4, read(), Answer.of(2))),
        new Case(
            "a fence lets its holder write, and no one else",
            "",
            at(1, acquire(A), token(5)),
            at(2, fenced(7, 5), TRUE),
            at(3, fenced(8, 4), STALE),
            at(4, new Release(A), TRUE),
            at(5, fenced(9, 5), STALE),
            at(6, read(), Answer.of(7))),
        new Case(
            "a question whether a token is current",
            "",
            at(0, new HoldsLock(5), FALSE),
            at(1, acquire(A), token(5)),
            at(2, new HoldsLock(5), TRUE),
            at(3, new HoldsLock(4), FALSE),
            at(4, new Release(A), TRUE),
            at(5, new HoldsLock(5), FALSE),
            at(6, acquire(A), LOST),
            at(7, new HoldsLock(6), FALSE),
            at(8, new HoldsLock(7), TRUE),
            at(9, new ReadToken(), token(7))),
        new Case(
            "force",
            "",
            at(1, acquire(A), token(5)),
            at(2, new ForceRelease(), TRUE),
            at(3, new ForceRelease(), FALSE),
            at(4, fenced(8, 5), STALE),
            at(5, acquire(A), token(6))),
        new Case(
            "a revoked lease",
            "",
            at(1, acquire(A), token(5)),
            call(20, 25, CellCall.ALL, new Revoke(A), TRUE),
            at(3, acquire(B), token(6)),
            at(4, acquire(A), GONE),
            call(50, 55, CellCall.ALL, new Renew(A), GONE),
            call(60, 65, CellCall.ALL, new Revoke(A), FALSE)),
        new Case(
                "a lease that ends by itself",
                "",
                at(1, acquire(A), token(5)),
                call(20, 25, CellCall.ALL, new Renew(A), Answer.of(500)),
                at(3, acquire(B), token(6)),
                at(4, new Release(A), GONE))
            .mayEnd(A, 25),
        new Case(
            "an acquire without an answer, that was granted",
            "",
            at(1, acquire(A), LOST),
            at(2, acquire(B), NULL),
            at(3, new ReadToken(), token(4)),
            at(4, acquire(A), token(4))),
        new Case(
            "an acquire without an answer, that came to nothing",
            "",
            at(1, acquire(A), LOST),
            at(2, acquire(B), token(4))),
        new Case(
            "a grant that nobody was told of",
            "",
            at(1, acquire(A), LOST),
            at(2, acquire(B), NULL),
            at(3, new Release(A), TRUE),
            at(4, acquire(B), token(2))),
        new Case(
            "a release without an answer, late",
            "",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), LOST),
            at(3, new ReadToken(), token(5)),
            at(4, acquire(B), token(6))),
        new Case(
            "a fenced write without an answer",
            "",
            at(1, acquire(A), token(5)),
            at(2, fenced(7, 5), LOST),
            at(3, read(), Answer.of(0)),
            at(4, read(), Answer.of(7))),
        new Case(
            "reads and token reads without an answer say nothing",
            "",
            at(1, read(), LOST),
            at(2, new ReadToken(), LOST)),
        new Case(
            "tokens of two locks that were granted at the same time",
            "",
            call(0, 100, 0, acquire(A), token(2)),
            call(10, 20, 1, acquire(B), token(3)),
            call(110, 120, 1, acquire(B), token(3))),
        new Case(
            "a token whose grant was not answered at first",
            "",
            call(0, 1, 0, acquire(A), LOST),
            call(10, 20, 1, acquire(B), token(3)),
            call(30, 40, 0, acquire(A), token(2))));
  }

  static Stream<Case> bad() {
    return Stream.of(
        new Case(
            "stale read",
            "Read[] = 1 in",
            at(1, write(1), TRUE),
            at(2, write(2), TRUE),
            at(3, read(), Answer.of(1))),
        new Case(
            "lost update",
            "Read[] = 2 in",
            at(1, write(1), TRUE),
            call(20, 40, 0, swap(1, 2), TRUE),
            call(20, 40, 0, swap(2, 3), TRUE),
            at(5, read(), Answer.of(2))),
        new Case(
            "two compare-and-sets of one value",
            "expected=OptionalLong[1]",
            at(1, write(1), TRUE),
            call(20, 40, 0, swap(1, 2), TRUE),
            call(20, 40, 0, swap(1, 3), TRUE)),
        new Case(
            "compare-and-set that missed what was there",
            "expected=OptionalLong[1]",
            at(1, write(1), TRUE),
            at(2, swap(1, 2), FALSE)),
        new Case(
            "acknowledged write that is gone",
            "Read[] = 0 in",
            at(1, write(1), TRUE),
            at(2, read(), Answer.of(0))),
        new Case("value that nobody wrote", "Read[] = 3 in", at(1, read(), Answer.of(3))),
        new Case(
            "double grant",
            "Acquire[lease=2, waits=true] = 6 in",
            at(1, acquire(A), token(5)),
            at(2, acquire(B), token(6))),
        new Case(
            "double grant, at the same time",
            "Acquire[lease=2, waits=true] = 6 in",
            call(0, 10, 0, acquire(A), token(5)),
            call(0, 10, 0, acquire(B), token(6)),
            call(20, 30, 0, new Release(A), TRUE)),
        new Case(
                "grant that was not released, to a lease whose end is too early",
                "Acquire[lease=2, waits=true] = 6 in",
                at(1, acquire(A), token(5)),
                at(2, acquire(B), token(6)))
            .mayEnd(A, 26),
        new Case(
                "lease that ended too early",
                "Renew[lease=1] = 55T01 in",
                at(1, acquire(A), token(5)),
                call(20, 25, CellCall.ALL, new Renew(A), GONE))
            .mayEnd(A, 26),
        new Case(
                "lease that came back",
                "Renew[lease=1] = 500 in",
                at(1, acquire(A), GONE),
                call(20, 25, CellCall.ALL, new Renew(A), Answer.of(500)))
            .mayEnd(A, 0),
        new Case(
            "refused to a free lock",
            "Acquire[lease=1, waits=true] = NULL in",
            at(1, acquire(A), NULL)),
        new Case(
            "another token for the same hold",
            "Acquire[lease=1, waits=true] = 6 in",
            at(1, acquire(A), token(5)),
            at(2, acquire(A), token(6))),
        new Case(
            "token that goes back",
            "Acquire[lease=2, waits=true] = 5 in",
            at(1, acquire(A), token(6)),
            at(2, new Release(A), TRUE),
            at(3, acquire(B), token(5))),
        new Case(
            "token that is given twice",
            "Acquire[lease=2, waits=true] = 6 in",
            at(1, acquire(A), token(6)),
            at(2, new Release(A), TRUE),
            at(3, acquire(B), token(6))),
        new Case(
            "token that comes again after a grant that nobody was told of",
            "Acquire[lease=2, waits=true] = 6 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), TRUE),
            at(3, acquire(A), LOST),
            at(4, new Release(A), TRUE),
            at(5, acquire(B), token(6))),
        new Case(
            "release by who does not hold",
            "Release[lease=2] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(B), TRUE)),
        new Case(
            "release of what is held fails",
            "Release[lease=1] = 0 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), FALSE)),
        new Case(
            "token of a lock that is free",
            "ReadToken[] = 5 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), TRUE),
            at(3, new ReadToken(), token(5))),
        new Case(
            "no token of a lock that is held",
            "ReadToken[] = NULL in",
            at(1, acquire(A), token(5)),
            at(2, new ReadToken(), NULL)),
        new Case(
            "a token of a lock that is free is said to be current",
            "HoldsLock[token=5] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), TRUE),
            at(3, new HoldsLock(5), TRUE)),
        new Case(
            "an old token is said to be current",
            "HoldsLock[token=5] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new ForceRelease(), TRUE),
            at(3, acquire(B), token(6)),
            at(4, new HoldsLock(5), TRUE)),
        new Case(
            "an old token is said to be current while nobody was told the new one",
            "HoldsLock[token=5] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new ForceRelease(), TRUE),
            at(3, acquire(B), LOST),
            at(4, acquire(A), NULL),
            at(5, new HoldsLock(5), TRUE)),
        new Case(
            "the current token is said to be none",
            "HoldsLock[token=5] = 0 in",
            at(1, acquire(A), token(5)),
            at(2, new HoldsLock(5), FALSE)),
        new Case(
            "stale write that is accepted",
            "token=OptionalLong[5]] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), TRUE),
            at(3, fenced(7, 5), TRUE)),
        new Case(
            "stale write that is accepted after the next grant",
            "token=OptionalLong[5]] = 1 in",
            at(1, acquire(A), token(5)),
            at(2, new ForceRelease(), TRUE),
            at(3, acquire(B), token(6)),
            at(4, fenced(7, 5), TRUE)),
        new Case(
            "refused write that was done",
            "Read[] = 7 in",
            at(1, fenced(7, 5), STALE),
            at(2, read(), Answer.of(7))),
        new Case(
            "write of the holder that is refused",
            "token=OptionalLong[5]] = 23T01 in",
            at(1, acquire(A), token(5)),
            at(2, fenced(7, 5), STALE)),
        new Case(
            "write without a fence that is refused by one",
            "Write[expected=OptionalLong.empty, value=1, token=OptionalLong.empty] = 23T01 in",
            at(1, write(1), STALE)),
        new Case(
            "forced release of nothing", "ForceRelease[] = 1 in", at(1, new ForceRelease(), TRUE)),
        new Case(
            "revoked lease that goes on",
            "Acquire[lease=1, waits=true] = 5 in",
            call(0, 5, CellCall.ALL, new Revoke(A), TRUE),
            at(1, acquire(A), token(5))),
        new Case(
            "lease that was revoked twice",
            "Revoke[lease=1] = 1 in",
            at(1, acquire(A), token(5)),
            call(20, 25, CellCall.ALL, new Revoke(A), TRUE),
            call(30, 35, CellCall.ALL, new Revoke(A), TRUE)),
        new Case(
            "fenced write without an answer, under a token that was stale before",
            "Read[] = 7 in",
            at(1, acquire(A), token(5)),
            at(2, new Release(A), TRUE),
            at(3, fenced(7, 5), LOST),
            at(4, read(), Answer.of(7))),
        new Case(
            "one token for two locks",
            "token of two locks",
            call(0, 5, 0, acquire(A), token(5)),
            call(10, 15, 1, acquire(B), token(5))),
        new Case(
            "token that is lower than that of another lock before",
            "token that goes back",
            call(0, 5, 0, acquire(A), token(5)),
            call(10, 15, 1, acquire(B), token(4))));
  }

  @ParameterizedTest
  @MethodSource
  void good(Case good) {
    assertEquals(List.of(), CellHistory.anomalies(good.calls(), good.ends()));
  }

  @ParameterizedTest
  @MethodSource
  void bad(Case bad) {
    List<String> anomalies = CellHistory.anomalies(bad.calls(), bad.ends());
    assertTrue(
        anomalies.stream().anyMatch(anomaly -> anomaly.contains(bad.expected())),
        anomalies::toString);
  }
}
