package dev.tollgate.node;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.client.Authentication;
import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.ScramClient;
import dev.tollgate.wire.ScramKeys;
import java.nio.charset.StandardCharsets;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Users in memory. */
final class TestUsers implements Authentication {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final Map<String, PasswordVerifier> VERIFIERS = new ConcurrentHashMap<>();
  private static final Map<String, byte[]> SALTED = new ConcurrentHashMap<>();

  private final Map<String, User> users = new ConcurrentHashMap<>();
  private final AtomicLong generation = new AtomicLong();
  volatile boolean required = true;
  volatile boolean known = true;

  /** What a node needs so that the replicated state has a user of this name too. */
  static UserSettings administrator(String name) {
    return administrator(name, "unused");
  }

  /** What a node needs that demands a login, and whose first administrator has this password. */
  static UserSettings administrator(String name, String password) {
    return new UserSettings(
        /* loginRequired= */ true,
        new UserAccount(
            new UserName(UserNames.spelled(name)),
            /* administrator= */ true,
            List.of(verifier(password))));
  }

  /** A started node in memory that demands a login, and lets its first administrator log in. */
  static Node node(String name, String password) throws Exception {
    Node node =
        new Node(
            LoopbackSettings.of("n1", null),
            new ConnectionSettings(100, DEADLINE, 0, 0, 64L << 20),
            administrator(name, password));
    node.start();
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
    Awaitility.await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              DriverManager.getConnection(url, name, password).close();
              return true;
            });
    return node;
  }

  /** The verifier of a first password. */
  static String verifier(String password) {
    return verifier(password, new byte[PasswordVerifier.SALT_BYTES]).text();
  }

  /**
   * With as many iterations as the driver demands. A JVM without its second compiler takes 0.3 s
   * for them, so each verifier is made once.
   */
  private static PasswordVerifier verifier(String password, byte[] salt) {
    return VERIFIERS.computeIfAbsent(
        password + Arrays.toString(salt),
        any -> PasswordVerifier.of(password, salt, PasswordVerifier.DEFAULT_ITERATIONS));
  }

  /** What a client makes of a password, once for each salt: that takes as long. */
  static ScramClient.SaltedPassword salted(String password) {
    return (salt, iterations) ->
        SALTED.computeIfAbsent(
            password + Arrays.toString(salt) + iterations,
            any -> ScramKeys.saltedPassword(password, salt, iterations));
  }

  /** Adds or replaces a user; without passwords, it has a certificate only. */
  TestUsers with(String name, String... passwords) {
    byte[] salt = name.repeat(16).substring(0, 16).getBytes(StandardCharsets.UTF_8);
    String spelled = spelled(name);
    users.put(
        spelled,
        new User(
            spelled,
            List.of(passwords).stream().map(password -> verifier(password, salt)).toList(),
            generation.get(),
            /* closed= */ null));
    return this;
  }

  /** Has the user be refused with this message, once it has proven who it is. */
  void close(String name, String why) {
    users.computeIfPresent(
        spelled(name),
        (any, user) -> new User(user.name(), user.passwords(), generation.incrementAndGet(), why));
  }

  void drop(String name) {
    generation.incrementAndGet();
    users.remove(spelled(name));
  }

  @Override
  public boolean isRequired() {
    return required;
  }

  @Override
  public boolean knowsUsers() {
    return known;
  }

  @Override
  public String spelled(String name) {
    return UserNames.spelled(name);
  }

  @Override
  public @Nullable User find(String spelled) {
    return users.get(spelled);
  }

  @Override
  public byte[] decoyKey() {
    return new byte[] {1, 2, 3};
  }
}
