package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.h2.command.dml.SetTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Statements are told by their first words. */
class StatementRulesTest {

  static Stream<StatementRule> accepted() {
    return StatementRules.all().stream().filter(StatementRule::isAccepted);
  }

  static Stream<StatementRule> refused() {
    return StatementRules.all().stream().filter(rule -> !rule.isAccepted());
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void acceptedBeginningPasses(StatementRule rule) {
    assertDoesNotThrow(() -> StatementRules.check(Tokens.of(rule.name() + " x")));
    assertDoesNotThrow(
        () -> StatementRules.check(Tokens.of(rule.name().toLowerCase(Locale.ROOT) + " x y z")));
  }

  @ParameterizedTest
  @MethodSource("refused")
  void refusedBeginningIsRefusedWithItsReason(StatementRule rule) {
    SqlRefused refused =
        assertThrows(
            SqlRefused.class, () -> StatementRules.check(Tokens.of("\n " + rule.name() + " x")));
    assertEquals(rule.refusal(), refused.reason());
    assertEquals("2:2", refused.line() + ":" + refused.column());
    String message = String.valueOf(refused.getMessage());
    assertTrue(
        message.contains(rule.name()) && message.endsWith(": " + rule.explanation()), message);
  }

  /** Why, and what to do about it, in words that fit the one sentence they become. */
  @ParameterizedTest
  @MethodSource("refused")
  void refusedBeginningHasAReason(StatementRule rule) {
    assertTrue(rule.sentence().split(" ", -1).length > 3, rule.sentence());
    assertFalse(rule.explanation().matches("(?s).*([.;:]|\\s)|.*; ;.*|[A-Z][a-z].*"), rule.name());
  }

  /** All that H2's SET knows has a rule of its own, so that a new setting is seen. */
  @Test
  void everySettingOfH2HasARule() {
    Set<String> names = new TreeSet<>();
    StatementRules.all().forEach(rule -> names.add(rule.name()));
    for (String setting : SetTypes.getTypes()) {
      assertTrue(setting.equals("@") || names.contains("SET " + setting), setting);
    }
  }

  @Test
  void everyBeginningHasOneRule() {
    Set<List<String>> beginnings = new HashSet<>();
    for (StatementRule rule : StatementRules.all()) {
      assertTrue(beginnings.add(rule.words()), rule.name());
    }
  }

  /** An accepted beginning is of use only if the grammar knows how to go on. */
  @Test
  void everyAcceptedBeginningBeginsSomeStatement() {
    List<String> statements =
        Stream.of(
                Corpus.all("/tools.sql"),
                Corpus.all("/dialect.sql"),
                List.of(
                    "? = CALL 1",
                    "ALTER DOMAIN d DROP DEFAULT",
                    "START TRANSACTION",
                    "SCRIPT SIMPLE",
                    "CREATE LOCK 'a' PERMITS 5",
                    "ALTER LOCK 'a' PERMITS 5",
                    "DROP LOCK 'a'",
                    "SET PASSWORD 'x'",
                    "SET FENCING TOKEN 1 FOR LOCK 'a'",
                    "SET FENCED BY LOCK 'a' TOKEN 1",
                    "SET NOT FENCED"))
            .flatMap(List::stream)
            .toList();
    SqlFrontend frontend = new SqlFrontend(0);
    Set<String> used = new HashSet<>();
    for (String sql : statements) {
      frontend.plan(sql);
      for (StatementRule rule : StatementRules.all()) {
        if (Tokens.of(sql).size() >= rule.words().size() && begins(Tokens.of(sql), rule.words())) {
          used.add(rule.name());
        }
      }
    }
    accepted()
        .filter(rule -> !rule.ignored())
        .forEach(rule -> assertTrue(used.contains(rule.name()), rule.name()));
  }

  private static boolean begins(Tokens tokens, List<String> words) {
    int next = 0;
    for (int i = 0; i < tokens.size() && next < words.size() && i < 8; i++) {
      if (tokens.get(i).image.equalsIgnoreCase(words.get(next))) {
        next++;
      }
    }
    return next == words.size();
  }
}
