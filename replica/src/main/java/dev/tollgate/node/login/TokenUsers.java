package dev.tollgate.node.login;

import dev.tollgate.core.command.UserName;
import dev.tollgate.sql.UserNames;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which user the name in a token stands for: lines of a name and a user. Names are compared
 * exactly, character by character. Immutable.
 */
final class TokenUsers {
  private record Line(String name, String user) {}

  private final Map<String, String> users;

  private TokenUsers(List<Line> lines) {
    users = new HashMap<>();
    // the first line of a name decides
    lines.forEach(line -> users.putIfAbsent(line.name(), line.user()));
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line of it
   */
  static TokenUsers read(Path file) throws IOException {
    return new TokenUsers(LineFile.read(file, TokenUsers::line));
  }

  private static Line line(List<String> words) {
    if (words.size() != 2) {
      throw new IllegalArgumentException(
          "write the name in the token, and the user; quote what has spaces");
    }
    String user = user(words.get(1));
    if (user == null) {
      throw new IllegalArgumentException("no user can have the name '" + words.get(1) + "'");
    }
    return new Line(words.get(0), user);
  }

  /** The user with this name, as the cluster spells it; null if no user can have it. */
  static @Nullable String user(String name) {
    String spelled = UserNames.spelled(name);
    return UserName.isValid(spelled) && UserNames.isClear(spelled) ? spelled : null;
  }

  /** The user for whom a name stands; null for none. */
  @Nullable String userOf(String name) {
    return users.get(name);
  }
}
