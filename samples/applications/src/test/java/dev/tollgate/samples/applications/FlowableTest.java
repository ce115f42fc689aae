package dev.tollgate.samples.applications;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.time.Duration;
import org.flowable.engine.ProcessEngine;
import org.flowable.engine.impl.cfg.StandaloneProcessEngineConfiguration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Processes of Flowable, with its asynchronous executor. */
class FlowableTest {
  private static final int PROCESSES = 10;

  /** A job, then a task of a user. */
  private static final String PROCESS =
      """
      <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
          xmlns:flowable="http://flowable.org/bpmn" targetNamespace="tollgate">
        <process id="order" isExecutable="true">
          <startEvent id="start"/>
          <sequenceFlow id="f1" sourceRef="start" targetRef="price"/>
          <serviceTask id="price" flowable:async="true"
              flowable:expression="${execution.setVariable('price', 42)}"/>
          <sequenceFlow id="f2" sourceRef="price" targetRef="check"/>
          <userTask id="check" flowable:assignee="ann"/>
          <sequenceFlow id="f3" sourceRef="check" targetRef="end"/>
          <endEvent id="end"/>
        </process>
      </definitions>
      """;

  @RegisterExtension final TestDatabase node = new TestDatabase();

  @Test
  @Tag("cluster")
  void processesRunToTheirEnd() throws Exception {
    StandaloneProcessEngineConfiguration configuration = new StandaloneProcessEngineConfiguration();
    try (HikariDataSource pool = Pool.of(node.url())) {
      configuration.setDataSource(pool);
      configuration.setDatabaseSchemaUpdate("true");
      configuration.setAsyncExecutorActivate(true);
      ProcessEngine engine = configuration.buildEngine();
      try {
        engine
            .getRepositoryService()
            .createDeployment()
            .addString("order.bpmn20.xml", PROCESS)
            .deploy();
        for (int i = 0; i < PROCESSES; i++) {
          engine.getRuntimeService().startProcessInstanceByKey("order");
        }
        node.loseLeader();
        await()
            .atMost(Duration.ofSeconds(60))
            .until(() -> engine.getTaskService().createTaskQuery().count() == PROCESSES);
        engine
            .getTaskService()
            .createTaskQuery()
            .taskAssignee("ann")
            .list()
            .forEach(task -> engine.getTaskService().complete(task.getId()));
        assertEquals(
            PROCESSES,
            engine.getHistoryService().createHistoricProcessInstanceQuery().finished().count());
        assertEquals(
            PROCESSES,
            engine
                .getHistoryService()
                .createHistoricVariableInstanceQuery()
                .variableName("price")
                .count());
        assertEquals("0", node.ask("SELECT COUNT(*) FROM ACT_RU_EXECUTION"));
      } finally {
        engine.close();
      }
    }
  }
}
