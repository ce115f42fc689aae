package dev.tollgate.cli.certificates;

import dev.tollgate.tls.TestCertificates;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;

/** Certificates of a CA that say what no command of Tollgate lets them say. */
public final class OddCertificates {
  public static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
  public static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
  private static final int EMAIL = 1;
  private static final int URI = 6;

  private OddCertificates() {}

  /**
   * Issues a certificate.
   *
   * @param names URIs, or addresses of mail if they have an at sign
   */
  public static TestAuthority.Issued issue(
      TestAuthority authority, String commonName, List<String> uses, String... names)
      throws GeneralSecurityException {
    List<byte[]> encoded = new ArrayList<>();
    for (String name : names) {
      encoded.add(
          Der.implicit(
              name.indexOf('@') < 0 ? URI : EMAIL, name.getBytes(StandardCharsets.US_ASCII)));
    }
    return authority.issue(commonName, uses, encoded, TestCertificates.now());
  }
}
