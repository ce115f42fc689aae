package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What becomes of the statements of the next run, after one that ended at the second of three. An
 * attempted statement is one whose outcome the earlier run has not recorded.
 */
class EarlierRunTest {
  private static final List<String> EARLIER =
      List.of("CREATE TABLE a(i INT)", "CREATE TABLE b(i INT)", "DROP TABLE c");

  private static long checksum(int count) {
    StatementChecksum checksum = new StatementChecksum();
    EARLIER.subList(0, count).forEach(sql -> checksum.add(new SqlStatement(1, sql)));
    return checksum.value();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // done | attempted | statements now | verdicts, and at the end
        "0 | 0 | CREATE TABLE x(i INT)                       | LEFT DONE",
        "2 | 2 | same                                        | DONE DONE LEFT DONE",
        "2 | 2 | CREATE TABLE a(i INT);CREATE TABLE x(i INT) | DONE CHANGED",
        "2 | 2 | CREATE TABLE a(i INT)                       | DONE CHANGED",
        "1 | 2 | same                                        | DONE UNKNOWN",
        "1 | 2 | CREATE TABLE a(i INT);CREATE TABLE x(i INT) | DONE UNKNOWN",
        "1 | 2 | CREATE TABLE a(i INT)                       | DONE UNKNOWN",
        "1 | 2 | DROP TABLE a                                | CHANGED",
      })
  void statementsAreJudgedOneAfterTheOther(
      int done, int attempted, String statements, String expected) {
    EarlierRun earlier =
        new EarlierRun(new StatementProgress(done, checksum(done), attempted, checksum(attempted)));
    List<String> verdicts = new ArrayList<>();
    for (String sql : statements.equals("same") ? EARLIER : List.of(statements.split(";", -1))) {
      EarlierRun.Verdict verdict = earlier.next(new SqlStatement(1, sql));
      verdicts.add(verdict.toString());
      if (verdict == EarlierRun.Verdict.CHANGED || verdict == EarlierRun.Verdict.UNKNOWN) {
        break;
      }
    }
    if (!verdicts.contains("CHANGED") && !verdicts.contains("UNKNOWN")) {
      verdicts.add(earlier.end().toString());
    }
    assertEquals(expected, String.join(" ", verdicts));
  }
}
