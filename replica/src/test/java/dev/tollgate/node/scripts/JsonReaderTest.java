package dev.tollgate.node.scripts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
  private static Map<String, Object> read(String text) throws ScriptRefusal {
    return JsonReader.object(text.getBytes(UTF_8));
  }

  private static String refusal(String text) {
    return assertThrows(ScriptRefusal.class, () -> read(text), text).getMessage();
  }

  @Test
  void valuesAreThoseOfJava() throws Exception {
    Map<String, Object> object =
        read(
            " {\"a\" : 1, \"b\":-2.50,\"c\":[true,false,null,\"x\"],\r\n\t\"d\":{\"e\":{}},\"f\":[],"
                + "\"g\":9223372036854775807,\"h\":9223372036854775808,\"i\":1e3} ");
    assertEquals(1L, object.get("a"));
    assertEquals(new BigDecimal("-2.50"), object.get("b"));
    assertEquals(Arrays.asList(true, false, null, "x"), object.get("c"));
    assertEquals(Map.of("e", Map.of()), object.get("d"));
    assertEquals(List.of(), object.get("f"));
    assertEquals(Long.MAX_VALUE, object.get("g"));
    assertEquals(new BigDecimal("9223372036854775808"), object.get("h"));
    assertEquals(new BigDecimal("1e3"), object.get("i"));
    assertEquals(List.of("a", "b", "c", "d", "f", "g", "h", "i"), List.copyOf(object.keySet()));
  }

  @Test
  void escapesAndOtherCharactersAreText() throws Exception {
    assertEquals(
        "\"\\/\b\f\n\r\té\uD83D\uDE00ü",
        read("{\"t\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83D\\uDE00ü\"}").get("t"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1",
        "[]",
        "\"a\"",
        "null",
        "{",
        "{}x",
        "{} {}",
        "{a:1}",
        "{'a':1}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,\"a\":1}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":1e123456}",
        "{\"a\":NaN}",
        "{\"a\":tru}",
        "{\"a\":TRUE}",
        "{\"a\":\"\n\"}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u00g0\"}",
        "{\"a\":\"\\u00\"}",
        "{\"a\":\"",
        "{\"a\":1/*b*/}",
        "\uFEFF{}"
      })
  void whatIsNoJsonIsRefused(String text) {
    assertTrue(refusal(text).startsWith("the body is no JSON: "), refusal(text));
  }

  @Test
  void refusalSaysWhere() {
    assertEquals("the body is no JSON: character 8 should be a comma or }", refusal("{\"a\":1 x}"));
  }

  @Test
  void whatReadersDisagreeAboutIsRefused() {
    assertEquals("the member \"a\" is there twice", refusal("{\"a\":1,\"a\":2}"));
    byte[] latin = "{\"a\":\"é\"}".getBytes(ISO_8859_1);
    assertEquals(
        "the body is not UTF-8",
        assertThrows(ScriptRefusal.class, () -> JsonReader.object(latin)).getMessage());
  }

  @Test
  void nestingIsBounded() throws Exception {
    int most = ScriptLimits.JSON_DEPTH - 1;
    assertTrue(read("{\"a\":" + "[".repeat(most) + "]".repeat(most) + "}").containsKey("a"));
    String deeper = "{\"a\":" + "[".repeat(most + 1) + "]".repeat(most + 1) + "}";
    assertEquals("the body nests objects and arrays deeper than 8", refusal(deeper));
    assertEquals(
        "the body nests objects and arrays deeper than 8",
        refusal("{\"a\":" + "[".repeat(1 << 20)));
  }

  /** Without the bound, the digits of a body of 1 MiB take seconds to compute. */
  @Test
  @Timeout(10)
  void numbersAreBounded() throws Exception {
    assertEquals(
        new BigDecimal("1".repeat(ScriptLimits.NUMBER_CHARS)),
        read("{\"a\":" + "1".repeat(ScriptLimits.NUMBER_CHARS) + "}").get("a"));
    assertEquals(
        "a number has 1000000 characters: at most 400",
        refusal("{\"a\":" + "1".repeat(1_000_000) + "}"));
  }

  @Test
  void whatIsWrittenIsReadAgain() throws Exception {
    Map<String, Object> object =
        read("{\"a\\u0007\\\"\":[1,-2.50,true,null,\"\\u001f\\\\é\\ud83d\\ude00\"],\"b\":{}}");
    assertEquals(object, read(new JsonWriter().append(object).toString()));
  }

  @Test
  void halvesOfCharactersAreWrittenAsEscapes() {
    assertEquals("\"\\ud83dx\"", new JsonWriter().append("\uD83Dx").toString());
    assertEquals("\"x\\ude00\"", new JsonWriter().append("x\uDE00").toString());
  }
}
