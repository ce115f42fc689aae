package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A proof holds for what it was made for, and for nothing else. */
class ClusterProofTest {
  private static final ClusterIdentity KNOWN = ClusterKeys.identity(1, Map.of());
  private static final byte[] CALLER = {1, 2, 3};
  private static final byte[] ONE = new byte[32];
  private static final byte[] TWO = ClusterProof.drawNonce();
  private static final UniqueId INCARNATION = new UniqueId(3, 4);

  private final ClusterProof proofs = new ClusterProof(ONE, TWO, "n2", INCARNATION);
  private final byte[] proof = proofs.of(KNOWN, ClusterProof.Side.CALLER, CALLER);

  private static boolean holds(ClusterProof proofs, byte[] credentials, byte[] proof) {
    return proofs.isGiven(KNOWN, ClusterProof.Side.CALLER, credentials, proof);
  }

  @Test
  void proofHolds() {
    assertTrue(holds(proofs, CALLER, proof));
    assertEquals(32, proof.length);
  }

  @Test
  void proofOfOneSideIsNoneOfTheOther() {
    assertFalse(proofs.isGiven(KNOWN, ClusterProof.Side.LISTENER, CALLER, proof));
    byte[] listeners = proofs.of(KNOWN, ClusterProof.Side.LISTENER, CALLER);
    assertTrue(proofs.isGiven(KNOWN, ClusterProof.Side.LISTENER, CALLER, listeners));
    assertFalse(holds(proofs, CALLER, listeners));
  }

  @Test
  void proofIsOfOneConnectionAlone() {
    byte[] other = ClusterProof.drawNonce();
    assertFalse(holds(new ClusterProof(other, TWO, "n2", INCARNATION), CALLER, proof));
    assertFalse(holds(new ClusterProof(ONE, other, "n2", INCARNATION), CALLER, proof));
    assertFalse(holds(new ClusterProof(TWO, ONE, "n2", INCARNATION), CALLER, proof));
  }

  @Test
  void proofIsOfTheseTwoNodesAlone() {
    assertFalse(holds(proofs, new byte[] {1, 2, 4}, proof));
    assertFalse(holds(new ClusterProof(ONE, TWO, "n3", INCARNATION), CALLER, proof));
    assertFalse(holds(new ClusterProof(ONE, TWO, "n2", new UniqueId(3, 5)), CALLER, proof));
  }

  @Test
  void nodeOfAnotherKeyOrWithoutOneProvesNothing() {
    ClusterIdentity other = ClusterKeys.identity(2, Map.of());
    assertFalse(proofs.isGiven(other, ClusterProof.Side.CALLER, CALLER, proof));
    assertNull(proofs.of(ClusterIdentity.NONE, ClusterProof.Side.CALLER, CALLER));
    ClusterIdentity none = ClusterIdentity.NONE;
    assertFalse(proofs.isGiven(none, ClusterProof.Side.CALLER, CALLER, proof));
    assertFalse(proofs.isGiven(none, ClusterProof.Side.CALLER, CALLER, null));
    assertFalse(proofs.isGiven(KNOWN, ClusterProof.Side.CALLER, CALLER, null));
    assertFalse(proofs.isGiven(KNOWN, ClusterProof.Side.CALLER, CALLER, new byte[0]));
  }
}
