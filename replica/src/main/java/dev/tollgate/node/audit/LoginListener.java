package dev.tollgate.node.audit;

/** Is told of logins by what authenticates clients, from any thread. Must not block. */
public interface LoginListener {
  /**
   * A client did not prove that it is this user.
   *
   * @param user as the client says, of any length
   * @param address where the connection comes from
   * @param mechanism such as SCRAM-SHA-256
   */
  void loginFailed(String user, String address, String mechanism);

  /** A client has proved that it is this user. */
  void loginSucceeded(String user, String address, String mechanism);
}
