package dev.tollgate.node.client;

import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.PasswordVerifier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Every name is that of a user without a password. */
final class EveryName implements Authentication {
  @Override
  public boolean isRequired() {
    return true;
  }

  @Override
  public boolean knowsUsers() {
    return true;
  }

  @Override
  public String spelled(String name) {
    return UserNames.spelled(name);
  }

  @Override
  public @Nullable User find(String spelled) {
    return new User(spelled, List.of(), 1, null);
  }

  @Override
  public byte[] decoyKey() {
    return new byte[PasswordVerifier.SALT_BYTES];
  }
}
