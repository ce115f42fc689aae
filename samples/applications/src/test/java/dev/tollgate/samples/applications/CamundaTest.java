package dev.tollgate.samples.applications;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.camunda.bpm.engine.HistoryService;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.impl.cfg.ProcessEngineConfigurationImpl;
import org.camunda.bpm.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.camunda.bpm.engine.impl.util.ClockUtil;
import org.camunda.bpm.model.bpmn.Bpmn;
import org.camunda.bpm.model.bpmn.BpmnModelInstance;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes of Camunda 7, with the default clean-up of their history. */
class CamundaTest {
  private static final int PROCESSES = 10;

  @RegisterExtension final TestDatabase node = new TestDatabase();

  /** A job, then a task of a user. */
  private static BpmnModelInstance process() {
    return Bpmn.createExecutableProcess("order")
        .camundaHistoryTimeToLive(1)
        .startEvent()
        .serviceTask("price")
        .camundaAsyncBefore()
        .camundaExpression("${execution.setVariable('price', 42)}")
        .userTask("check")
        .camundaAssignee("ann")
        .endEvent()
        .done();
  }

  private static long finished(HistoryService history) {
    return history.createHistoricProcessInstanceQuery().finished().count();
  }

  @Test
  @Tag("cluster")
  void processesRunAndTheirHistoryIsCleanedUp() throws Exception {
    ProcessEngineConfigurationImpl configuration = new StandaloneProcessEngineConfiguration();
    try (HikariDataSource pool = Pool.of(node.url())) {
      configuration.setDataSource(pool);
      configuration.setDatabaseSchemaUpdate("true");
      configuration.setEnforceHistoryTimeToLive(true);
      configuration.setJobExecutorActivate(false);
      configuration.setMetricsEnabled(false);
      ProcessEngine engine = configuration.buildProcessEngine();
      try {
        assertEquals("h2", configuration.getDatabaseType());
        engine
            .getRepositoryService()
            .createDeployment()
            .addModelInstance("order.bpmn", process())
            .deploy();
        // a week ago, so that the history's time to live of one day is over
        ClockUtil.setCurrentTime(Date.from(Instant.now().minus(Duration.ofDays(7))));
        for (int i = 0; i < PROCESSES; i++) {
          engine.getRuntimeService().startProcessInstanceByKey("order");
        }
        engine
            .getManagementService()
            .createJobQuery()
            .messages()
            .list()
            .forEach(job -> engine.getManagementService().executeJob(job.getId()));
        node.loseLeader();
        engine
            .getTaskService()
            .createTaskQuery()
            .taskAssignee("ann")
            .list()
            .forEach(task -> engine.getTaskService().complete(task.getId()));
        assertEquals(PROCESSES, finished(engine.getHistoryService()));
        ClockUtil.reset();

        engine.getHistoryService().cleanUpHistoryAsync(true);
        engine
            .getHistoryService()
            .findHistoryCleanupJobs()
            .forEach(job -> engine.getManagementService().executeJob(job.getId()));
        assertEquals(0, finished(engine.getHistoryService()));
        assertEquals("0", node.ask("SELECT COUNT(*) FROM ACT_HI_ACTINST"));
      } finally {
        ClockUtil.reset();
        engine.close();
      }
    }
  }
}
