package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MemberAddressesTest {
  private final Set<String> members = new HashSet<>(Set.of("n1", "n2", "n3"));
  private long now = 1;

  private final MemberAddresses addresses =
      new MemberAddresses(
          new PeerGuard.Members() {
            @Override
            public boolean contains(String nodeId) {
              return members.contains(nodeId);
            }

            @Override
            public Set<String> current() {
              return members;
            }
          },
          () -> now);

  private static InetAddress address(int last) {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) last});
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void addressesWhereMembersAreCalledAndWhenceTheyCallCount() {
    addresses.calls("n2", address(2));
    addresses.calledBy("n2", address(3));
    assertTrue(addresses.contains(address(2)));
    assertTrue(addresses.contains(address(3)));
    assertFalse(addresses.contains(address(4)));
    // it has moved
    addresses.calls("n2", address(4));
    assertTrue(addresses.contains(address(4)));
    assertFalse(addresses.contains(address(2)));
    now += TimeUnit.DAYS.toNanos(30);
    assertTrue(addresses.contains(address(4)));
    members.remove("n2");
    assertFalse(addresses.contains(address(4)));
    assertFalse(addresses.contains(address(3)));
  }

  @Test
  void nodeThatIsBeingAddedCountsForAWhile() {
    addresses.calls("n4", address(4));
    addresses.calledBy("n5", address(5));
    assertTrue(addresses.contains(address(4)));
    assertFalse(addresses.contains(address(5)));
    now += TimeUnit.SECONDS.toNanos(Limits.JOINING_ADDRESS_SECONDS) + 1;
    assertFalse(addresses.contains(address(4)));
    members.add("n4");
    assertTrue(addresses.contains(address(4)));
  }

  @Test
  void addressesAreBounded() {
    for (int i = 0; i <= Limits.MEMBER_ADDRESSES; i++) {
      addresses.calls("x" + i, address(i));
    }
    assertFalse(addresses.contains(address(0)));
    assertTrue(addresses.contains(address(1)));
    assertTrue(addresses.contains(address(Limits.MEMBER_ADDRESSES)));
  }
}
