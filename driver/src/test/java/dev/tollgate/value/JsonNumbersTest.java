package dev.tollgate.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.WireFormatException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueJson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonNumbersTest {
  private static final String LONG = "7".repeat(JsonNumbers.MAX_DIGITS + 1);

  @ParameterizedTest
  @ValueSource(strings = {"%s", "-%s", "[1, %s]", "{\"a\": %s}", "{\"\\\"\": %s}", "\"\\\\\" %s"})
  void longNumbersAreFound(String json) {
    String text = json.replace("%s", LONG);
    assertFalse(JsonNumbers.areShort(text), json);
    assertFalse(JsonNumbers.areShort(text.getBytes(StandardCharsets.UTF_16LE)), json);
    assertTrue(JsonNumbers.areShort(json.replace("%s", LONG.substring(1))), json);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"%s\"", "{\"%s\": 1}", "[\"\\\"%s\"]", "[1.5, \"a\\\\\\\"%s\"]"})
  void digitsInStringsDoNotCount(String json) {
    assertTrue(JsonNumbers.areShort(json.replace("%s", LONG)), json);
  }

  @Test
  void parameterWithALongNumberIsMalformed() {
    Value number = ValueJson.fromJson(LONG);
    byte[] sent = Parameter.encodeValues(List.of(number));
    assertThrows(WireFormatException.class, () -> Parameter.decodeSent(sent));
    assertEquals(List.of(number), Parameter.decodeValues(sent, null));
    Value[] elements = {number};
    byte[] inArray = Parameter.encodeValues(List.of(ValueArray.get(elements, null)));
    assertThrows(WireFormatException.class, () -> Parameter.decodeSent(inArray));
  }
}
