package dev.tollgate.samples.benchmark.system;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many small tasks that have to be done before a measurement. */
public final class InParallel {
  private static final int THREADS = 32;

  private InParallel() {}

  /** One of the tasks. */
  public interface Task {
    void run(int number) throws Exception;
  }

  /** Runs the task for each number from 0 to below count. */
  public static void run(int count, Task task) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        int first = thread;
        running.add(
            threads.submit(
                () -> {
                  for (int number = first; number < count; number += THREADS) {
                    task.run(number);
                  }
                  return true;
                }));
      }
      for (Future<?> one : running) {
        one.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
