package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The front-end runs with its own classes and six jars. */
class ClassPathTest {

  private static final List<String> ONE_CLASS_OF_EACH =
      List.of(
          "dev.tollgate.sql.SqlFrontend",
          "org.apache.calcite.sql.SqlNode", // calcite-core
          "org.apache.calcite.linq4j.Linq4j", // calcite-linq4j
          "org.apache.calcite.avatica.util.Casing", // avatica-core
          "com.google.common.collect.ImmutableList", // guava
          "org.apache.commons.math3.util.FastMath", // commons-math3
          "org.slf4j.Logger"); // slf4j-api

  @Test
  void sixJarsAreEnough() throws Exception {
    List<URL> urls = new ArrayList<>();
    for (String name : ONE_CLASS_OF_EACH) {
      urls.add(Class.forName(name).getProtectionDomain().getCodeSource().getLocation());
    }
    assertEquals(7, urls.stream().distinct().count());
    ClassLoader platform = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new), platform)) {
      Class<?> type = loader.loadClass(SqlFrontend.class.getName());
      assertNotSame(SqlFrontend.class, type);
      Object frontend = type.getConstructor(int.class).newInstance(0);
      type.getMethod("warmUp").invoke(frontend);
      Method plan = type.getMethod("plan", String.class);
      for (String resource : new String[] {"/tools.sql", "/dialect.sql"}) {
        for (String sql : Corpus.all(resource)) {
          plan.invoke(frontend, sql);
        }
      }
    }
  }

  /** A jar that an upgrade of Calcite brings along would have to be excluded, too. */
  @Test
  void whatCalciteBringsAlongIsExcluded() {
    for (String name :
        new String[] {
          "com.fasterxml.jackson.databind.ObjectMapper",
          "com.google.protobuf.Message",
          "org.codehaus.janino.ScriptEvaluator",
          "org.locationtech.jts.geom.Geometry",
          "com.jayway.jsonpath.JsonPath",
          "org.apache.hc.client5.http.classic.HttpClient",
          "org.apache.commons.dbcp2.BasicDataSource"
        }) {
      assertNull(
          ClassPathTest.class.getClassLoader().getResource(name.replace('.', '/') + ".class"),
          name);
    }
  }
}
