package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class TimeOrOffTest {
  private final TimeOrOff times = new TimeOrOff();

  @ParameterizedTest
  @CsvSource({
    "1ms, PT0.001S",
    "500ms, PT0.5S",
    "5s, PT5S",
    "10m, PT10M",
    "1h, PT1H",
    "7d, PT168H",
    "365d, PT8760H",
    "off, PT0S",
  })
  void timesAreRead(String text, Duration duration) {
    assertEquals(duration, times.convert(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "5", "0s", "-1s", "1.5s", "5S", "5 s", "366d", "9999999999s", "OFF", "5s5s"})
  void otherTextsAreRefused(String text) {
    assertThrows(TypeConversionException.class, () -> times.convert(text));
  }

  @Test
  void refusalShowsWhatToWrite() {
    TypeConversionException refused =
        assertThrows(TypeConversionException.class, () -> times.convert("soon"));
    assertEquals("'soon' is no time: write 500ms, 5s, 10m or off", refused.getMessage());
  }
}
