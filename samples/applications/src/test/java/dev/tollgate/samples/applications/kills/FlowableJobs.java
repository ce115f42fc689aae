package dev.tollgate.samples.applications.kills;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.flowable.common.engine.impl.interceptor.CommandConfig;
import org.flowable.engine.ProcessEngine;
import org.flowable.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.flowable.engine.impl.util.CommandContextUtil;
import org.flowable.job.service.impl.asyncexecutor.AsyncJobExecutorConfiguration;

/**
 * Engines of Flowable. The effect of a service task commits with the step of its process. The job
 * of an engine that dies is another's once its lock has expired.
 */
final class FlowableJobs implements Framework {
  private static final Duration LOCK = Duration.ofSeconds(5);
  private static final Duration LOOK_FOR_EXPIRED = Duration.ofSeconds(1);

  /** A job needs two connections, that of its step and one to say that it begins. */
  private static final int THREADS = 3;

  private static final String PROCESS =
      """
      <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
          xmlns:flowable="http://flowable.org/bpmn" targetNamespace="tollgate">
        <process id="work" isExecutable="true">
          <startEvent id="start"/>
          <sequenceFlow id="f1" sourceRef="start" targetRef="write"/>
          <serviceTask id="write" flowable:async="true"
              flowable:expression="${effects.write(job)}">
            <extensionElements>
              <flowable:failedJobRetryTimeCycle>R1000/PT1S</flowable:failedJobRetryTimeCycle>
            </extensionElements>
          </serviceTask>
          <sequenceFlow id="f2" sourceRef="write" targetRef="end"/>
          <endEvent id="end"/>
        </process>
      </definitions>
      """;

  @Override
  public Promise promise() {
    return Promise.EXACTLY_ONCE;
  }

  @Override
  public Duration detection() {
    return LOCK.plus(LOOK_FOR_EXPIRED);
  }

  private static StandaloneProcessEngineConfiguration configuration(DataSource database) {
    StandaloneProcessEngineConfiguration configuration = new StandaloneProcessEngineConfiguration();
    configuration.setDataSource(database);
    configuration.setDatabaseSchemaUpdate("false");
    return configuration;
  }

  @Override
  public void prepare(DataSource database) throws SQLException {
    StandaloneProcessEngineConfiguration configuration = configuration(database);
    configuration.setDatabaseSchemaUpdate("true");
    ProcessEngine engine = configuration.buildEngine();
    engine.getRepositoryService().createDeployment().addString("work.bpmn20.xml", PROCESS).deploy();
    engine.close();
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE SUBMITTED(JOB INT PRIMARY KEY)");
    }
  }

  /** The connection of the engine's own transaction. */
  private static Connection transaction() {
    return CommandContextUtil.getDbSqlSession().getSqlSession().getConnection();
  }

  /** A process starts with a row that keeps it single, as an order has a number. */
  @Override
  public Submitter submitter(DataSource database) {
    ProcessEngine engine = configuration(database).buildEngine();
    return new Submitter() {
      @Override
      public void submit(int job) {
        engine
            .getManagementService()
            .executeCommand(
                new CommandConfig().transactionRequired(),
                context -> {
                  if (enter(job)) {
                    engine
                        .getRuntimeService()
                        .startProcessInstanceByKey("work", Map.of("job", job));
                  }
                  return null;
                });
      }

      @Override
      public void close() {
        engine.close();
      }
    };
  }

  private static boolean enter(int job) {
    try (PreparedStatement insert =
        transaction()
            .prepareStatement(
                "INSERT INTO SUBMITTED SELECT ? WHERE NOT EXISTS(SELECT 1 FROM SUBMITTED WHERE JOB"
                    + " = ?)")) {
      insert.setInt(1, job);
      insert.setInt(2, job);
      return insert.executeUpdate() == 1;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) {
    StandaloneProcessEngineConfiguration configuration = configuration(database);
    configuration.setBeans(Map.of("effects", new Effects(ledger)));
    AsyncJobExecutorConfiguration executor = new AsyncJobExecutorConfiguration();
    executor.setLockOwner(client);
    executor.setAsyncJobLockTime(LOCK);
    executor.setTimerLockTime(LOCK);
    executor.setResetExpiredJobsInterval(LOOK_FOR_EXPIRED);
    executor.setDefaultAsyncJobAcquireWaitTime(Duration.ofMillis(200));
    configuration.setAsyncExecutorConfiguration(executor);
    configuration.setAsyncExecutorCorePoolSize(THREADS);
    configuration.setAsyncExecutorMaxPoolSize(THREADS);
    configuration.setAsyncExecutorActivate(true);
    configuration.buildEngine();
  }

  @Override
  public String remainder() {
    return "SELECT (SELECT COUNT(*) FROM ACT_RU_EXECUTION) + (SELECT COUNT(*) FROM ACT_RU_JOB) +"
        + " (SELECT COUNT(*) FROM ACT_RU_TIMER_JOB) + (SELECT COUNT(*) FROM ACT_RU_DEADLETTER_JOB)";
  }

  /** What the service task of a process calls. */
  public static final class Effects {
    private final Ledger ledger;

    Effects(Ledger ledger) {
      this.ledger = ledger;
    }

    /** Writes the effect of a job. */
    public void write(int job) throws SQLException {
      ledger.begin(job);
      ledger.write(transaction(), job);
    }
  }
}
