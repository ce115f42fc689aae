package dev.tollgate.h2;

import org.jspecify.annotations.Nullable;

/** A thread whose meter is found at once. On other threads, a step takes a few times as long. */
public final class MeteredThread extends Thread {
  private final Meter meter = new Meter();

  /** As in {@link Thread#Thread(ThreadGroup, Runnable, String, long)}. */
  public MeteredThread(
      @Nullable ThreadGroup group, Runnable work, String name, long stackSizeBytes) {
    super(group, work, name, stackSizeBytes);
  }

  Meter meter() {
    return meter;
  }
}
