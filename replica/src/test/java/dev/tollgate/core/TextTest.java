package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.Text;
import org.junit.jupiter.api.Test;

class TextTest {
  /** A line of a log stays one line, and a terminal obeys nothing of it. */
  @Test
  void whatIsShownHasNoCharactersThatAreObeyed() {
    assertEquals(
        "a?b?c?d?e?f?g \ud83d\ude00 \u00df",
        Text.printable("a\nb\u001bc\u0085d\u2028e\u202ef\u009bg \ud83d\ude00 \u00df"));
  }

  @Test
  void pairOfSurrogatesIsNotTorn() {
    assertEquals("a", Text.first("a\ud83d\ude00", 2));
    assertEquals("a\ud83d\ude00", Text.first("a\ud83d\ude00b", 3));
  }
}
