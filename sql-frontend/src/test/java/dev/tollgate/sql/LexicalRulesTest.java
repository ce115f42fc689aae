package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Calcite and H2 would read in two ways does not pass. */
class LexicalRulesTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  /** H2 nests comments, so to it the WHERE is a part of one, and every row is updated. */
  @Test
  void nestedCommentDoesNotHideTheCondition() {
    assertRefused(
        "UPDATE t SET qty = 0 /* /* */ WHERE id = 1 -- */",
        Reason.SYNTAX,
        22,
        "a comment within a comment is not allowed");
  }

  /** To H2 this comment is not closed; without the rule the condition would be always true. */
  @Test
  void nestedCommentDoesNotAddToTheCondition() {
    assertRefused(
        "DELETE FROM t WHERE id = 1 /* /* */ OR TRUE",
        Reason.SYNTAX,
        28,
        "a comment within a comment is not allowed");
  }

  /** Two dollars open a string in H2: what is a comment to Calcite is a subquery there. */
  @Test
  void dollarsDoNotHideASubquery() {
    assertRefused(
        "SELECT $$ -- $$, (SELECT MAX(x) FROM secret)\n FROM t",
        Reason.SYNTAX,
        8,
        "names without quotes have only ASCII letters");
  }

  /** To Calcite t, the Ogham space and x are one name; to H2 a table and its alias. */
  @Test
  void foreignSpaceDoesNotHideTheTable() {
    assertRefused(
        "DELETE FROM t\u1680x WHERE 1 = 1",
        Reason.SYNTAX,
        13,
        "names without quotes have only ASCII letters");
  }

  /** Calcite overlooks the end of this comment, and would drop the WHERE with it. */
  @Test
  void oddCommentDoesNotSwallowTheCondition() {
    assertRefused(
        "DELETE FROM t /***/ WHERE id = 1 /* x */",
        Reason.SYNTAX,
        15,
        "the comment /***/ is not allowed");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT 1; DROP TABLE t         | 11 | one statement at a time
          SELECT 1;;                     | 10 | one statement at a time
          SELECT 0x1G                    | 9  | a number runs into 'x1G'
          SELECT 1x1F                    | 9  | a number runs into 'x1F'
          SELECT 00x1F                   | 10 | a number runs into 'x1F'
          SELECT 0x1LL                   | 9  | a number runs into 'x1LL'
          SELECT 10KB                    | 10 | a number runs into 'KB'
          SELECT 1.5K                    | 11 | a number runs into 'K'
          SELECT 0x1F__F                 | 9  | a number runs into 'x1F__F'
          SELECT 0b12                    | 9  | a number runs into 'b12'
          SELECT 1__000                  | 9  | a number runs into '__000'
          SELECT 1_000_                  | 9  | a number runs into '_000_'
          SELECT 1LL                     | 9  | a number runs into 'LL'
          SELECT 1.5L                    | 11 | a number runs into 'L'
          SELECT 1.5e                    | 11 | a number runs into 'e'
          SELECT 1FROM t                 | 9  | a number runs into 'FROM'
          SELECT E'\\x'                  | 8  | E'' strings are not allowed
          SELECT e 'x'                   | 10 | character literal
          SELECT U&'\\004'               | 8  | four digits follow the \\
          SELECT U&'\\D83D'              | 8  | half of a character
          SELECT U&'\\+110000'           | 8  | four digits follow the \\
          SELECT U&'a' UESCAPE 'b'       | 22 | UESCAPE takes one character
          SELECT U&'a' UESCAPE           | 14 | UESCAPE takes one character
          SELECT U&'a' 'b'               | 14 | stands alone
          SELECT _utf8'x'                | 8  | strings with a character set
          SELECT x.d'2020-01-01'         | 11 | found character literal
          SELECT /*+ INDEX(i) */ 1       | 8  | hints are not allowed
          SELECT 1 */ 2                  | 10 | this comment was never opened
          SELECT {d '2020-01-01'}        | 8  | JDBC escapes
          SELECT {ts '2020-01-01'}       | 8  | JDBC escapes
          SELECT {fn ABS(1)}             | 8  | JDBC escapes
          SELECT 1 {1: 2}                | 10 | JDBC escapes
          SELECT }                       | 8  | JDBC escapes
          SELECT $a FROM t               | 8  | write "$a"
          SELECT a $$b$$ FROM t          | 10 | write "$$b$$"
          SELECT ``                      | 10 | a name in backticks is empty or not closed
          SELECT `a                      | 10 | a name in backticks is empty or not closed
          SELECT `a``b`                  | 11 | a name in backticks holds no backtick
          SELECT tür FROM t              | 8  | write "tür"
          SELECT ?1                      | 9  | parameters have no numbers
          SELECT @x                      | 8  | variables (@name) are not allowed
          SELECT SET(@x, 1)              | 12 | variables (@name) are not allowed
          SELECT 1 FROM t WHERE a # 1    | 25 | unexpected character '#'
          SELECT 'abc                    | 8  | a string is not closed
          SELECT "abc                    | 8  | a quoted name is empty or not closed
          SELECT "" FROM t               | 8  | a quoted name is empty or not closed
          SELECT 1 /* abc                | 16 | a comment or a name
          SELECT 1 // abc                | 10 | two slashes begin no comment
          // abc                         | 1  | two slashes begin no comment
          """)
  void whatTwoLexersReadDifferentlyIsRefused(String sql, int column, String sentence) {
    assertRefused(sql, Reason.SYNTAX, column, sentence);
  }

  @Test
  void positionCountsLinesAndTabs() {
    assertRefused("SELECT 1,\n\t\t$x", Reason.SYNTAX, 2, 3, "ASCII letters");
    assertRefused("SELECT 1,\r\n  'ä', $x", Reason.SYNTAX, 2, 8, "ASCII letters");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT 1;                      → SELECT 1
          SELECT 1 ;  -- done            → SELECT 1
          SELECT/**/1/* a */+/* b */2    → SELECT 1 + 2
          SELECT/** doc **/ a.b ,c[ 1]   → SELECT a.b ,c[ 1]
          SELECT -/**/-1                 → SELECT - - 1
          SELECT 'it''s /* no */ -- x'   → SELECT 'it''s /* no */ -- x'
          SELECT "a ""b"" -- c" FROM t   → SELECT "a ""b"" -- c" FROM t
          SELECT N'x', X'41'             → SELECT N'x', X'41'
          SELECT 1 e, 1.5 e5             → SELECT 1 e, 1.5 e5
          SELECT a<b,a>=b,a||b FROM t    → SELECT a < b,a >= b,a || b FROM t
          """)
  void textIsRebuiltWithoutCommentsAndWithSpaces(String sql, String expected) {
    assertEquals(expected, ((Plan.Read) frontend.plan(sql)).sql());
  }

  /** They become what both lexers read alike. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '%',
      textBlock =
          """
          SELECT 1_000, 1_0.2_5, 12_3.5e2, 7L, 1_0l → SELECT 1000, 10.25, 123.5e2, 7L, 10L
          SELECT 0b1_1, 0O17, 0x_F                  → SELECT 3, 15, 15
          SELECT D '2020-01-01', t'10:00', {d} d    → -
          SELECT D '2020-01-01', t'10:00:00' d      → SELECT DATE '2020-01-01', TIME '10:00:00' d
          SELECT `a b`, `q"x`.`Y` FROM `t`          → SELECT "A B", "Q""X"."Y" FROM "T"
          SELECT U&'a\\0041\\\\', u&'!+01F600!!' UESCAPE '!' → SELECT 'aA\\', '\ud83d\ude00!'
          SELECT U&'it''s' AS U&"a""\\0062"         → SELECT 'it''s' AS "a""b"
          SELECT a$b, c$$ FROM t                    → SELECT a$b, c$$ FROM t
          """)
  void literalsOfH2BecomePlain(String sql, String expected) {
    if (expected.equals("-")) {
      assertThrows(SqlRefused.class, () -> frontend.plan(sql));
    } else {
      assertEquals(expected, ((Plan.Read) frontend.plan(sql)).sql());
    }
  }

  /** One token to H2 and two to Calcite: it becomes a decimal number, which is one to both. */
  @Test
  void hexadecimalNumberBecomesDecimal() {
    Plan.Read read = (Plan.Read) new SqlFrontend(0).plan("SELECT 0x1F, 0XFFffFFff x, 0 x1f, a0x1");
    assertEquals("SELECT 31, 4294967295 x, 0 x1f, a0x1", read.sql());
  }
}
