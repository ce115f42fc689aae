package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The heap of the server against the memory of the host or of the container. */
final class MemoryCheck implements Check {
  /** What a node takes beside its heap: code, threads, buffers of the network. */
  private static final long BESIDE_MIB = 400;

  private static final Pattern HEAP = Pattern.compile("([0-9]{1,15})([kmgt]?)");

  private final String heap;
  private final long memoryBytes;

  /**
   * @param heap as the launcher takes it
   * @param memoryBytes of the host, or of the container if that has a limit
   */
  MemoryCheck(String heap, long memoryBytes) {
    this.heap = requireNonNull(heap, "heap");
    this.memoryBytes = memoryBytes;
  }

  static long memoryBytes() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
        ? system.getTotalMemorySize()
        : Long.MAX_VALUE;
  }

  @Override
  public String subject() {
    return "memory";
  }

  @Override
  public List<Finding> run() {
    Matcher size = HEAP.matcher(heap.toLowerCase(Locale.ROOT));
    if (!size.matches()) {
      return List.of(
          Finding.fail(subject(), "TOLLGATE_HEAP is '" + heap + "'", "write 512m or 4g"));
    }
    int shift = "kmgt".indexOf(size.group(2)) * 10 + 10;
    long heapMib = (Long.parseLong(size.group(1)) << (size.group(2).isEmpty() ? 0 : shift)) >> 20;
    long memoryMib = memoryBytes >> 20;
    String fact = "a heap of " + heapMib + " MiB, " + memoryMib + " MiB of memory";
    if (heapMib < Doctor.LEAST_HEAP_MIB) {
      return List.of(
          Finding.fail(
              subject(), fact, "set TOLLGATE_HEAP to " + Doctor.LEAST_HEAP_MIB + "m at least"));
    }
    if (heapMib >= memoryMib) {
      return List.of(
          Finding.fail(
              subject(), fact, "lower TOLLGATE_HEAP, or give the host or container more memory"));
    }
    return List.of(
        heapMib + BESIDE_MIB > memoryMib
            ? Finding.warn(
                subject(),
                fact,
                "leave " + BESIDE_MIB + " MiB beside the heap, or the host swaps or ends the node")
            : Finding.pass(subject(), fact));
  }
}
