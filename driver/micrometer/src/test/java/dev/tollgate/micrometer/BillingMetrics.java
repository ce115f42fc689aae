package dev.tollgate.micrometer;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

public class BillingMetrics {
  public static void main(String[] args) throws Exception {
    MeterRegistry registry = new SimpleMeterRegistry(); // the registry of the application
    try (LockClient locks = LockClient.connect("jdbc:tollgate:mem:billing")) {
      new TollgateLockMetrics(locks, Tags.of("client", "billing")).bindTo(registry);
      try (HeldLock lock = locks.acquire("nightly")) {
        lock.assertHeld();
        System.out.println(registry.get("tollgate.client.locks.held").gauge().value()); // 1.0
      }
    }
  }
}
