package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Access;
import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.List;

/**
 * Replaces certificates and keys of all nodes and clients while everything runs. Afterwards every
 * node has to show its new certificate.
 */
final class Rotation implements Fault {
  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    Access access = scene.cluster().access();
    access.replaceCertificates();
    return Injury.of(
        "certificates of all nodes and clients replaced",
        List.of(),
        true,
        () -> {
          for (Node node : scene.cluster().nodes()) {
            access.awaitCertificate(node);
          }
        });
  }
}
