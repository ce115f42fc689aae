package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VersionTest {
  @ParameterizedTest
  @CsvSource({"1, 2", "1.9, 1.10", "1, 1.1", "1.0.1, 1.1", "2, 20261120", "1_5, 1.6"})
  void numbersAreComparedOneByOne(String lower, String higher) throws MigrationException {
    assertEquals(-1, Integer.signum(Version.parse(lower).compareTo(Version.parse(higher))));
    assertEquals(1, Integer.signum(Version.parse(higher).compareTo(Version.parse(lower))));
  }

  @Test
  void zerosAtTheEndAndTheStartDoNotCount() throws MigrationException {
    assertEquals(Version.parse("1"), Version.parse("01.0.0"));
    assertEquals("1.2", Version.parse("1_02").toString());
    assertEquals("0", Version.parse("0.0").toString());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "x", "1.", ".1", "1..2", "-1", "1 2"})
  void otherTextsAreRejected(String text) {
    assertThrows(MigrationException.class, () -> Version.parse(text));
  }
}
