package dev.tollgate.samples.applications.kills;

import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;

/**
 * A framework that shares jobs between client processes through its own tables. Each process makes
 * an instance of its own, by a constructor without parameters.
 */
interface Framework {
  /** How often the framework runs a job. */
  enum Promise {
    /**
     * The effect commits with the framework's own rows, so nothing but the framework keeps it
     * single.
     */
    EXACTLY_ONCE,

    /** A job may run again, and a unique key keeps its effect single. */
    AT_LEAST_ONCE
  }

  Promise promise();

  /** How long the framework itself waits, by its settings, before it takes a client for dead. */
  Duration detection();

  /** Creates the framework's tables, before any client starts. */
  void prepare(DataSource database) throws Exception;

  /** Submits jobs, without working on them. */
  Submitter submitter(DataSource database) throws Exception;

  /** Works on the jobs of all clients until the process is killed. */
  void work(DataSource database, String client, Ledger ledger) throws Exception;

  /** A query for the number of rows that the framework still has of jobs; 0 once all have ended. */
  String remainder();

  /** The jobs of all effects, one for each effect. */
  default List<Integer> effects(DataSource database) throws Exception {
    return Ledger.effects(database);
  }

  /** Hands jobs to a framework. */
  interface Submitter extends AutoCloseable {
    /**
     * Submits a job. The caller repeats this with the same number after an exception, also when the
     * first attempt may have succeeded.
     */
    void submit(int job) throws Exception;

    @Override
    default void close() {}
  }
}
