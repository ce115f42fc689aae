package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SaltedPasswordsTest {
  private final List<String> derived = new ArrayList<>();
  private final SaltedPasswords passwords =
      new SaltedPasswords(
          (password, salt, iterations) -> {
            derived.add(password + salt[0] + ":" + iterations);
            return new byte[] {(byte) derived.size()};
          });

  private byte[] get(String password, int salt, int iterations) {
    return passwords.get(password, new byte[] {(byte) salt}, iterations);
  }

  @Test
  void passwordIsDerivedOncePerSaltAndIterations() {
    byte[] first = get("a", 1, 4096);
    assertArrayEquals(first, get("a", 1, 4096));
    get("b", 1, 4096);
    get("a", 2, 4096);
    get("a", 1, 5000);
    assertEquals(List.of("a1:4096", "b1:4096", "a2:4096", "a1:5000"), derived);
  }

  @Test
  void callersCannotChangeWhatIsKept() {
    get("a", 1, 4096)[0] = 99;
    assertArrayEquals(new byte[] {1}, get("a", 1, 4096));
  }

  @Test
  void theOneUsedLongestAgoIsDropped() {
    for (int i = 0; i < SaltedPasswords.MAX_KEPT; i++) {
      get("p" + i, 1, 4096);
    }
    get("p0", 1, 4096);
    get("more", 1, 4096);
    derived.clear();
    get("p0", 1, 4096);
    get("p1", 1, 4096);
    assertEquals(List.of("p11:4096"), derived);
  }
}
