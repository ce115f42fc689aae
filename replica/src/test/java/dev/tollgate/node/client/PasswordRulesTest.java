package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which passwords a node takes. */
class PasswordRulesTest {
  private static final PasswordRules STRICT = new PasswordRules(8, /* strict= */ true);

  @Test
  void shortPasswordIsRefused() {
    assertEquals(
        "it has 7 characters, and this node demands at least 8",
        PasswordRules.STANDARD.refusal("BOB", "hunter2"));
    assertNull(PasswordRules.STANDARD.refusal("BOB", "hunter22"));
    // eight units of UTF-16, and four characters
    assertNotNull(PasswordRules.STANDARD.refusal("BOB", "\uD83D\uDE00".repeat(4)));
    assertNotNull(new PasswordRules(20, /* strict= */ false).refusal("BOB", "x".repeat(19)));
    assertNull(new PasswordRules(20, /* strict= */ false).refusal("BOB", "x".repeat(20)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hunter22hun",
        "aaaaaaaaaaaaaaaa",
        "abababababababab",
        "my Name is bob!",
        "Password1234",
        "1234567890123"
      })
  void strictCheckRefusesWhatIsGuessedFirst(String password) {
    String refusal = STRICT.refusal("BOB", password);
    assertNotNull(refusal, password);
    assertFalse(refusal.contains(password), refusal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"correct horse battery", "q8#Lw2!zPf0v", "password of the moon and stars"})
  void strictCheckTakesOthers(String password) {
    assertNull(STRICT.refusal("BOB", password));
  }

  @Test
  void leastLengthCannotBeLowered() {
    assertThrows(IllegalArgumentException.class, () -> new PasswordRules(7, false));
    assertThrows(IllegalArgumentException.class, () -> new PasswordRules(129, false));
  }
}
