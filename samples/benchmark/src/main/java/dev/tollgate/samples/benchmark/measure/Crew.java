package dev.tollgate.samples.benchmark.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Workers that start together and work without pause for some time, again and again. */
public final class Crew implements Team {
  private final List<Worker> workers;

  /**
   * A thread for each worker, always the same: some clients take the thread for the lock's owner.
   */
  private final List<ExecutorService> threads = new ArrayList<>();

  private Crew(List<Worker> workers) {
    this.workers = workers;
    workers.forEach(worker -> threads.add(Executors.newSingleThreadExecutor()));
  }

  /** Makes a worker for each number from 0. */
  public interface Hiring {
    Worker hire(int number) throws Exception;
  }

  public static Crew of(int size, Hiring hiring) throws Exception {
    List<Worker> workers = new ArrayList<>();
    try {
      for (int i = 0; i < size; i++) {
        workers.add(hiring.hire(i));
      }
    } catch (Exception e) {
      for (Worker worker : workers) {
        dismissAfter(e, worker);
      }
      throw e;
    }
    return new Crew(workers);
  }

  private static void dismissAfter(Exception failure, Worker worker) {
    try {
      worker.dismiss();
    } catch (Exception e) {
      failure.addSuppressed(e);
    }
  }

  @Override
  public Sample measure(double seconds) throws Exception {
    CyclicBarrier start = new CyclicBarrier(workers.size());
    List<Future<Shift>> running = new ArrayList<>();
    for (int i = 0; i < workers.size(); i++) {
      running.add(threads.get(i).submit(shift(workers.get(i), start, seconds)));
    }
    Timings all = new Timings();
    long fewest = Long.MAX_VALUE;
    long most = 0;
    double worked = 0;
    for (Future<Shift> one : running) {
      Timings timings = one.get().timings();
      worked += one.get().seconds();
      fewest = Math.min(fewest, timings.turns());
      most = Math.max(most, timings.turns());
      all.add(timings);
    }
    Sample sample = all.sample(worked / workers.size());
    return workers.size() == 1
        ? sample
        : sample.with(Metric.FEWEST_WINS, (double) fewest).with(Metric.MOST_WINS, (double) most);
  }

  /** The work of one worker; the operation under way at the end is finished, and counts. */
  private record Shift(Timings timings, double seconds) {}

  private static Callable<Shift> shift(Worker worker, CyclicBarrier start, double seconds) {
    return () -> {
      Timings timings = new Timings();
      start.await();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      while (System.nanoTime() < end) {
        worker.operate(timings);
      }
      return new Shift(timings, (System.nanoTime() - begin) / 1e9);
    };
  }

  /** Each worker is dismissed by its own thread, which may still own a lock. */
  @Override
  public void dismiss() throws Exception {
    for (int i = 0; i < workers.size(); i++) {
      Worker worker = workers.get(i);
      Future<?> dismissed =
          threads
              .get(i)
              .submit(
                  () -> {
                    worker.dismiss();
                    return true;
                  });
      threads.get(i).shutdown();
      dismissed.get();
    }
  }
}
