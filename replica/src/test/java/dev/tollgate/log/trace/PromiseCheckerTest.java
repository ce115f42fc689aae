package dev.tollgate.log.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.trace.Promise.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces by hand: what breaks each rule, and what only looks like it. */
class PromiseCheckerTest {
  private static final String ALL = "n1,n2,n3";

  @TempDir Path directory;

  private final List<Promise> lines = new ArrayList<>();
  private long sequence;

  private PromiseCheckerTest add(
      String node, Kind kind, long term, long index, long other, String detail) {
    lines.add(new Promise(++sequence, 0, "now", node, kind, term, index, other, detail));
    return this;
  }

  private void restarted(String node, long term, long last, long synced, String vote) {
    add(node, Kind.RESTARTED, term, last, synced, vote);
  }

  private void kept(String node, long term, String vote) {
    add(node, Kind.KEPT, term, -1, -1, vote);
  }

  private void votes(String node, long term, String candidate) {
    kept(node, term, candidate);
    add(node, Kind.VOTED, term, -1, -1, candidate);
  }

  private void synced(String node, long last) {
    add(node, Kind.SYNCED, -1, last, -1, "-");
  }

  private void acknowledges(String node, long term, long entryTerm, long first, long last) {
    sequence++;
    lines.add(new Promise(sequence, 0, "now", node, Kind.APPENDED, entryTerm, last, first, "-"));
    lines.add(new Promise(sequence, 0, "now", node, Kind.ACKNOWLEDGED, term, last, -1, "n1"));
  }

  private void appends(String node, long term, long first, long last) {
    synced(node, last);
    acknowledges(node, term, term, first, last);
  }

  private void cut(String node, long term, long first) {
    add(node, Kind.CUT, term, first, -1, "-");
  }

  private void counted(String leader, long term, long last, String follower) {
    add(leader, Kind.COUNTED, term, last, -1, follower);
  }

  private void committed(String leader, long term, long last) {
    add(leader, Kind.COMMITTED, term, last, -1, ALL);
  }

  /** A leader of three nodes that has stood, with the votes of these. */
  private void elected(String leader, long term, long last, String... voters) {
    kept(leader, term, leader);
    add(leader, Kind.STANDS, term, -1, -1, "-");
    for (String voter : voters) {
      votes(voter, term, leader);
    }
    add(leader, Kind.LEADS, term, last, -1, ALL);
  }

  /** n1 leads term 1, and has committed the entries 0 to 2 with n2. */
  private void begin() {
    for (String node : List.of("n1", "n2", "n3")) {
      restarted(node, 0, -1, -1, "-");
    }
    elected("n1", 1, -1, "n2");
    kept("n3", 1, "-");
    synced("n1", 2);
    appends("n2", 1, 0, 2);
    counted("n1", 1, 2, "n2");
    committed("n1", 1, 2);
  }

  private void assertKept() {
    assertEquals(List.of(), PromiseChecker.check(lines));
  }

  private void assertBroken(PromiseRule rule, String... texts) {
    List<BrokenPromise> broken = PromiseChecker.check(lines);
    assertEquals(List.of(rule), broken.stream().map(BrokenPromise::rule).toList(), "" + broken);
    for (String text : texts) {
      assertTrue(broken.get(0).text().contains(text), broken.toString());
    }
  }

  @Test
  void orderlyRunBreaksNothing() {
    begin();
    assertKept();
    // another leader cuts off what was not committed, and the first one comes back as a follower
    synced("n1", 4);
    elected("n3", 2, -1, "n2");
    add("n3", Kind.FOLLOWS, 2, -1, -1, "-");
    elected("n2", 3, 2, "n3");
    synced("n2", 3);
    restarted("n1", 1, 4, 4, "n1");
    kept("n1", 3, "-");
    cut("n1", 3, 3);
    appends("n1", 3, 3, 3);
    counted("n2", 3, 3, "n1");
    committed("n2", 3, 3);
    assertKept();
  }

  @Test
  void acknowledgementAfterAVoteInALaterTerm() {
    begin();
    votes("n2", 2, "n3");
    appends("n2", 1, 3, 3);
    assertBroken(PromiseRule.NO_ACKNOWLEDGEMENT_OF_A_FORMER_TERM, "term 2");
  }

  @Test
  void acknowledgementAfterALaterTermWasSeen() {
    begin();
    kept("n2", 2, "-");
    appends("n2", 1, 3, 3);
    assertBroken(PromiseRule.NO_ACKNOWLEDGEMENT_OF_A_FORMER_TERM);
  }

  /** Its place was reserved before the vote: the entry was in the log that the vote looked at. */
  @Test
  void acknowledgementThatIsWrittenLateIsNone() {
    begin();
    synced("n2", 3);
    long mark = ++sequence;
    votes("n2", 2, "n3");
    lines.add(new Promise(mark, 0, "now", "n2", Kind.ACKNOWLEDGED, 1, 3, -1, "n1"));
    assertKept();
  }

  @Test
  void acknowledgementOfAnEntryThatIsNotSynced() {
    begin();
    synced("n2", 3);
    acknowledges("n2", 1, 1, 3, 4);
    assertBroken(PromiseRule.ACKNOWLEDGED_IS_SYNCED, "up to entry 3");
  }

  @Test
  void entryThatItsLeaderCommittedAndToldNobodyOf() {
    begin();
    elected("n1", 2, 5, "n2");
    synced("n1", 6);
    appends("n2", 2, 6, 6);
    counted("n1", 2, 6, "n2");
    add("n1", Kind.FOLLOWS, 2, 6, -1, "-");
    elected("n1", 3, 6, "n2");
    committed("n1", 3, 6);
    assertKept();
  }

  /** What tests do: the node was removed, or belongs to another cluster now. */
  @Test
  void nodeWithAnotherDirectoryHasPromisedNothing() {
    restarted("n2", 3, 5, 5, "n1@i1");
    acknowledges("n2", 3, 3, 5, 5);
    restarted("n2", 0, -1, -1, "-@i2");
    assertKept();
  }

  @Test
  void nodeWithTheSameDirectoryKeepsItsPromises() {
    restarted("n2", 3, 5, 5, "n1@i1");
    acknowledges("n2", 3, 3, 5, 5);
    restarted("n2", 3, 4, 4, "n1@i1");
    assertBroken(PromiseRule.NOTHING_REGRESSES, "entry 5");
  }

  @Test
  void acknowledgementOfWhatAStartHasReadAndNotSynced() {
    begin();
    restarted("n2", 1, 5, 2, "n1");
    acknowledges("n2", 1, 1, 3, 4);
    assertBroken(PromiseRule.ACKNOWLEDGED_IS_SYNCED, "up to entry 2");
  }

  @Test
  void acknowledgementOfWhatWasSyncedBeforeItWasCutOff() {
    begin();
    synced("n2", 5);
    cut("n2", 1, 4);
    acknowledges("n2", 1, 1, 4, 4);
    assertBroken(PromiseRule.ACKNOWLEDGED_IS_SYNCED, "up to entry 3");
  }

  @Test
  void whatAStartHasSyncedMayBeAcknowledged() {
    begin();
    restarted("n2", 1, 5, 5, "n1");
    acknowledges("n2", 1, 1, 3, 5);
    assertKept();
  }

  @Test
  void voteThatIsNotSynced() {
    begin();
    kept("n3", 2, "-");
    add("n3", Kind.VOTED, 2, -1, -1, "n2");
    assertBroken(PromiseRule.ONE_SYNCED_VOTE, "not synced");
  }

  @Test
  void candidateThatHasNotSyncedItsOwnVote() {
    begin();
    add("n3", Kind.STANDS, 2, -1, -1, "-");
    assertBroken(PromiseRule.ONE_SYNCED_VOTE, "not synced");
  }

  @Test
  void secondVoteInATerm() {
    begin();
    kept("n2", 1, "n3");
    assertBroken(PromiseRule.ONE_SYNCED_VOTE, "had voted for n1");
  }

  @Test
  void secondVoteThatIsNotEvenKept() {
    begin();
    add("n2", Kind.VOTED, 1, -1, -1, "n3");
    assertBroken(PromiseRule.ONE_SYNCED_VOTE, "synced one for n1");
  }

  @Test
  void voteThatIsLostByARestart() {
    begin();
    restarted("n2", 1, 2, 2, "-");
    assertBroken(PromiseRule.ONE_SYNCED_VOTE, "had voted for n1");
  }

  @Test
  void commitOfALeaderAlone() {
    begin();
    synced("n1", 3);
    committed("n1", 1, 3);
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "n2=2");
  }

  @Test
  void commitOfALeaderThatHasNotSynced() {
    begin();
    appends("n2", 1, 3, 3);
    counted("n1", 1, 3, "n2");
    committed("n1", 1, 3);
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "has synced up to 2");
  }

  @Test
  void commitWithoutTheLeadersOwnSyncButWithTwoOthers() {
    begin();
    appends("n2", 1, 3, 3);
    appends("n3", 1, 0, 3);
    counted("n1", 1, 3, "n2");
    counted("n1", 1, 3, "n3");
    committed("n1", 1, 3);
    assertKept();
  }

  @Test
  void commitByAnAcknowledgementThatNobodyGave() {
    begin();
    synced("n1", 3);
    counted("n1", 1, 3, "n3");
    committed("n1", 1, 3);
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "n3 has not acknowledged");
  }

  @Test
  void commitByAcknowledgementsOfAFormerTerm() {
    begin();
    appends("n2", 1, 3, 3);
    synced("n1", 3);
    counted("n1", 1, 3, "n2");
    add("n1", Kind.FOLLOWS, 1, 3, -1, "-");
    elected("n1", 2, 3, "n3");
    synced("n1", 4);
    committed("n1", 2, 4);
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "was acknowledged {}");
  }

  /** Raft, figure 8: a majority has it, and a leader of a later term may still cut it off. */
  @Test
  void commitOfAnEntryOfAFormerTermByItself() {
    begin();
    appends("n2", 1, 3, 3);
    synced("n1", 3);
    add("n1", Kind.FOLLOWS, 1, 3, -1, "-");
    elected("n1", 2, 3, "n3");
    counted("n1", 2, 3, "n2");
    acknowledges("n2", 2, 1, 3, 3);
    committed("n1", 2, 3);
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "no former leader");
  }

  @Test
  void bothMajoritiesAreNeededWhileMembersChange() {
    begin();
    synced("n1", 3);
    appends("n2", 1, 3, 3);
    counted("n1", 1, 3, "n2");
    add("n1", Kind.COMMITTED, 1, 3, -1, "n1,n4,n5/" + ALL);
    assertKept(); // by the members before the line
    synced("n1", 4);
    appends("n2", 1, 4, 4);
    counted("n1", 1, 4, "n2");
    add("n1", Kind.COMMITTED, 1, 4, -1, "n1,n4,n5");
    assertBroken(PromiseRule.COMMITTED_BY_A_MAJORITY, "n2=4");
  }

  @Test
  void startWithLessThanWasAcknowledged() {
    begin();
    restarted("n2", 1, 1, 1, "n1");
    assertBroken(PromiseRule.NOTHING_REGRESSES, "entry 2");
  }

  @Test
  void startOfALeaderWithLessThanItHasCommitted() {
    begin();
    restarted("n1", 1, 1, 1, "n1");
    assertBroken(PromiseRule.NOTHING_REGRESSES, "entry 2");
  }

  @Test
  void answerThatAnEntryIsMissingWhichWasAcknowledged() {
    begin();
    add("n2", Kind.LACKS, 1, 1, sequence, "n1");
    assertBroken(PromiseRule.NOTHING_REGRESSES, "entry 2");
  }

  /** The end of the log was read before the entry was appended. */
  @Test
  void answerThatAnEntryWasMissingBeforeItWasAcknowledgedIsNone() {
    begin();
    long mark = ++sequence;
    appends("n2", 1, 3, 3);
    add("n2", Kind.LACKS, 1, 2, mark, "n1");
    assertKept();
  }

  @Test
  void lowerAcknowledgementOfARequestThatIsSentAgainIsNone() {
    begin();
    acknowledges("n2", 1, 1, 1, 1);
    assertKept();
  }

  @Test
  void cutOfACommittedEntry() {
    begin();
    cut("n2", 2, 2);
    assertBroken(PromiseRule.COMMITTED_STAYS, "entry 2 of term 1");
  }

  @Test
  void snapshotReplacesWhatAFormerLeaderHasNotCommitted() {
    begin();
    synced("n1", 3);
    elected("n3", 2, 2, "n2");
    add("n1", Kind.FOLLOWS, 1, 3, -1, "-");
    synced("n3", 5);
    appends("n2", 2, 3, 5);
    counted("n3", 2, 5, "n2");
    committed("n3", 2, 5);
    kept("n1", 2, "-");
    add("n1", Kind.REPLACED, 2, 5, -1, "-");
    elected("n1", 3, 5, "n2");
    synced("n1", 6);
    appends("n2", 3, 6, 6);
    counted("n1", 3, 6, "n2");
    committed("n1", 3, 6);
    assertKept();
  }

  @Test
  void otherEntryIsCommittedInThePlaceOfOne() {
    begin();
    elected("n3", 2, -1, "n2");
    synced("n3", 1);
    cut("n2", 1, 1); // as if by the former leader, before the commit
    appends("n2", 2, 0, 1);
    counted("n3", 2, 1, "n2");
    committed("n3", 2, 1);
    List<BrokenPromise> broken = PromiseChecker.check(lines);
    assertTrue(
        broken.stream().anyMatch(one -> one.text().contains("where the leader of term 1")),
        broken.toString());
  }

  @Test
  void twoLeadersOfATerm() {
    begin();
    kept("n3", 1, "n3");
    votes("n2", 2, "n3");
    add("n3", Kind.LEADS, 1, -1, -1, "n3");
    assertBroken(PromiseRule.ONE_LEADER, "n1 leads this term too");
  }

  @Test
  void leaderWithoutVotes() {
    begin();
    elected("n3", 2, -1);
    assertBroken(PromiseRule.ONE_LEADER, "votes of [] alone");
  }

  @Test
  void nodeThatWasAloneLeadsByItsOwnVoteWhileAFirstOtherOneJoins() {
    restarted("n1", 0, -1, -1, "-");
    restarted("n2", 0, -1, -1, "-");
    kept("n1", 1, "n1");
    add("n1", Kind.LEADS, 1, -1, -1, "n1,n2/n1");
    assertKept();
    kept("n1", 2, "n1");
    add("n1", Kind.LEADS, 2, -1, -1, "n1,n2");
    assertBroken(PromiseRule.ONE_LEADER);
  }

  @Test
  void commitOfANodeThatDoesNotLead() {
    begin();
    committed("n2", 1, 2);
    assertBroken(PromiseRule.ONE_LEADER, "does not lead");
  }

  @Test
  void termThatFalls() {
    begin();
    kept("n3", 3, "-");
    kept("n3", 2, "-");
    assertBroken(PromiseRule.TERMS_RISE, "kept term 3");
  }

  @Test
  void termThatFallsWithARestart() {
    begin();
    kept("n3", 3, "-");
    restarted("n3", 2, -1, -1, "-");
    assertBroken(PromiseRule.TERMS_RISE, "had kept 3");
  }

  /** What a node has whose trace is not there is not known. */
  @Test
  void traceIsReadThoughThatOfAnotherNodeIsMissing() {
    begin();
    elected("n3", 2, -1);
    lines.removeIf(line -> line.node().equals("n2"));
    assertKept();
  }

  @Test
  void writtenTraceIsReadAsItWas() throws IOException {
    Path file = directory.resolve("n1.promises");
    try (PromiseTrace trace = PromiseTrace.open("n1", "i1", file)) {
      assertTrue(trace.isOn());
      trace.restarted(0, "", -1, -1);
      trace.kept(1, "n1");
      trace.stands(1);
      trace.leads(1, -1, List.of("n1"), List.of(), Function.identity());
      trace.synced(0);
      trace.committed(1, 0, List.of("n1"), List.of(), Function.identity());
      trace.committed(1, 0, List.of("n1"), List.of("n1"), Function.identity());
      trace.follows(0);
      long mark = trace.mark();
      trace.synced(1);
      trace.appended(mark, 2, 0, 1);
      trace.acknowledged(mark, 2, 1, "n2");
    }
    // a process that was killed, and the next one
    Files.writeString(file, "14 1 now n1 ACK", StandardOpenOption.APPEND);
    PromiseTrace trace = PromiseTrace.open("n1", "i1", file);
    trace.restarted(2, "n2", 1, 1);
    trace.close();
    trace.synced(5);
    assertEquals(
        List.of(
            "1 RESTARTED 0 -1 -1 -@i1",
            "2 KEPT 1 -1 -1 n1",
            "3 STANDS 1 -1 -1 -",
            "4 LEADS 1 -1 -1 n1",
            "5 SYNCED -1 0 -1 -",
            "6 COMMITTED 1 0 -1 n1",
            "7 FOLLOWS 1 0 -1 -",
            "9 SYNCED -1 1 -1 -",
            "8 APPENDED 2 1 0 -",
            "8 ACKNOWLEDGED 2 1 -1 n2",
            "14 1 now n1 ACK",
            "1 RESTARTED 2 1 1 n2@i1"),
        Files.readAllLines(file).stream()
            .map(line -> line.replaceFirst(" \\d+ \\S+ n1 ([A-Z].*) [.]$", " $1"))
            .toList());
    assertEquals(
        List.of(PromiseRule.ACKNOWLEDGED_IS_SYNCED),
        PromiseChecker.checkFiles(List.of(file)).stream().map(BrokenPromise::rule).toList());
  }

  @Test
  void lineThatIsTornWithinATraceIsNoTrace() throws IOException {
    Path file = directory.resolve("n1.promises");
    try (PromiseTrace trace = PromiseTrace.open("n1", "i1", file)) {
      trace.restarted(0, "", -1, -1);
      trace.synced(0);
      trace.synced(1);
    }
    Files.writeString(file, Files.readString(file).replace("SYNCED -1 0 -1 - .", "SYNCED -1 0"));
    assertThrows(IllegalArgumentException.class, () -> PromiseChecker.checkFiles(List.of(file)));
  }

  @Test
  void nothingIsWrittenWithoutAFile() throws IOException {
    PromiseTrace trace = PromiseTrace.open("n1", "i1", null);
    assertEquals(PromiseTrace.NONE, trace);
    assertEquals(0, trace.mark());
    trace.synced(1);
    trace.close();
  }
}
