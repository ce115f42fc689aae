package dev.tollgate.samples.jooq;

import static org.jooq.impl.DSL.avg;
import static org.jooq.impl.DSL.case_;
import static org.jooq.impl.DSL.cast;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.dateAdd;
import static org.jooq.impl.DSL.excluded;
import static org.jooq.impl.DSL.exists;
import static org.jooq.impl.DSL.extract;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.inline;
import static org.jooq.impl.DSL.jsonArrayAgg;
import static org.jooq.impl.DSL.jsonEntry;
import static org.jooq.impl.DSL.jsonObject;
import static org.jooq.impl.DSL.lag;
import static org.jooq.impl.DSL.length;
import static org.jooq.impl.DSL.listAgg;
import static org.jooq.impl.DSL.multiset;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.notExists;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.rowNumber;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.substring;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.trim;
import static org.jooq.impl.DSL.upper;
import static org.jooq.impl.DSL.val;
import static org.jooq.impl.DSL.values;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.TestDatabase;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.DatePart;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.SQLDataType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What jOOQ's DSL makes of all kinds of statements, here and on a plain H2: equal answers. */
class DslTest {
  private static final Table<Record> BOOK = table(name("BOOK"));
  private static final Field<Integer> ID =
      field(name("BOOK", "ID"), SQLDataType.INTEGER.identity(true));
  private static final Field<String> TITLE =
      field(name("BOOK", "TITLE"), SQLDataType.VARCHAR(40).notNull());
  private static final Field<BigDecimal> PRICE =
      field(name("BOOK", "PRICE"), SQLDataType.NUMERIC(8, 2));
  private static final Field<LocalDate> OUT = field(name("BOOK", "OUT_ON"), SQLDataType.LOCALDATE);
  private static final Field<Integer> AUTHOR =
      field(name("BOOK", "AUTHOR_ID"), SQLDataType.INTEGER);
  private static final Table<Record> AUTHORS = table(name("AUTHOR"));
  private static final Field<Integer> AUTHOR_ID =
      field(name("AUTHOR", "ID"), SQLDataType.INTEGER.notNull());
  private static final Field<String> AUTHOR_NAME =
      field(name("AUTHOR", "NAME"), SQLDataType.VARCHAR(40));

  /** Where the answer is not H2's yet, and why. */
  private static final Map<String, String> GAPS = Map.of("truncate", "TRUNCATE counts no rows");

  @RegisterExtension final TestDatabase node = new TestDatabase();

  private static Map<String, Function<DSLContext, Object>> steps() {
    Map<String, Function<DSLContext, Object>> steps = new LinkedHashMap<>();
    definitions(steps);
    writes(steps);
    queries(steps);
    moreWrites(steps);
    metadata(steps);
    return steps;
  }

  private static void definitions(Map<String, Function<DSLContext, Object>> steps) {
    steps.put(
        "create table",
        dsl ->
            dsl.createTableIfNotExists(AUTHORS)
                .column(AUTHOR_ID)
                .column(AUTHOR_NAME)
                .primaryKey(AUTHOR_ID)
                .execute());
    steps.put(
        "create table with keys",
        dsl ->
            dsl.createTable(BOOK)
                .columns(ID, TITLE, PRICE, OUT, AUTHOR)
                .constraints(
                    org.jooq.impl.DSL.primaryKey(ID),
                    org.jooq.impl.DSL.foreignKey(AUTHOR).references(AUTHORS, AUTHOR_ID),
                    org.jooq.impl.DSL.check(PRICE.ge(BigDecimal.ZERO)))
                .execute());
    steps.put(
        "create index", dsl -> dsl.createIndex("BOOK_TITLE").on(BOOK, TITLE.desc()).execute());
    steps.put("create sequence", dsl -> dsl.createSequence("S").startWith(10).execute());
    steps.put("create view", dsl -> dsl.createView("V").as(select(ID, TITLE).from(BOOK)).execute());
    steps.put(
        "alter table",
        dsl -> dsl.alterTable(BOOK).add(field(name("NOTE"), SQLDataType.CLOB)).execute());
    steps.put("comment", dsl -> dsl.commentOnTable(BOOK).is("books").execute());
    steps.put("create schema", dsl -> dsl.createSchemaIfNotExists("ATTIC").execute());
  }

  private static void writes(Map<String, Function<DSLContext, Object>> steps) {
    steps.put(
        "insert",
        dsl -> dsl.insertInto(AUTHORS).values(1, "Ann").values(2, "Bob").values(3, null).execute());
    steps.put(
        "insert returning",
        dsl ->
            dsl.insertInto(BOOK, TITLE, PRICE, OUT, AUTHOR)
                .values("Ants", new BigDecimal("9.50"), LocalDate.of(2020, 2, 29), 1)
                .values("Bees", new BigDecimal("12.00"), LocalDate.of(2021, 1, 1), 1)
                .values("Cats", null, null, 2)
                .returning(ID, TITLE)
                .fetch());
    steps.put(
        "upsert",
        dsl ->
            dsl.insertInto(AUTHORS, AUTHOR_ID, AUTHOR_NAME)
                .values(3, "Cid")
                .onConflict(AUTHOR_ID)
                .doUpdate()
                .set(AUTHOR_NAME, excluded(AUTHOR_NAME))
                .execute());
    steps.put(
        "insert select",
        dsl ->
            dsl.insertInto(BOOK, TITLE, AUTHOR)
                .select(select(TITLE.concat(inline(" II")), AUTHOR).from(BOOK).where(ID.eq(1)))
                .execute());
    steps.put(
        "update returning",
        dsl ->
            dsl.update(BOOK)
                .set(PRICE, PRICE.times(2))
                .where(PRICE.isNotNull())
                .and(ID.eq(1))
                .returning(ID, PRICE)
                .fetch());
    steps.put(
        "update with a row value",
        dsl ->
            dsl.update(BOOK)
                .set(row(TITLE, PRICE), row(val("Cows"), val(new BigDecimal("3.00"))))
                .where(TITLE.eq("Cats"))
                .execute());
    steps.put(
        "batch",
        dsl ->
            List.of(
                dsl.batch(dsl.update(BOOK).set(TITLE, (String) null).where(ID.eq((Integer) null)))
                    .bind("Bees and wasps", 2)
                    .bind("nothing", 99)
                    .execute()[0]));
  }

  private static void queries(Map<String, Function<DSLContext, Object>> steps) {
    steps.put(
        "join and group",
        dsl ->
            dsl.select(AUTHOR_NAME, count(), sum(PRICE), avg(PRICE))
                .from(BOOK)
                .leftJoin(AUTHORS)
                .on(AUTHOR_ID.eq(AUTHOR))
                .groupBy(AUTHOR_NAME)
                .having(count().gt(0))
                .orderBy(AUTHOR_NAME.asc().nullsLast())
                .fetch());
    steps.put(
        "window",
        dsl ->
            dsl.select(
                    TITLE,
                    rowNumber().over().partitionBy(AUTHOR).orderBy(ID),
                    lag(TITLE).over().orderBy(ID))
                .from(BOOK)
                .orderBy(ID)
                .fetch());
    steps.put(
        "with",
        dsl ->
            dsl.with("cheap")
                .as(select(ID, TITLE).from(BOOK).where(PRICE.lt(new BigDecimal("15"))))
                .select()
                .from(table(name("cheap")))
                .orderBy(1)
                .fetch());
    steps.put(
        "with recursive",
        dsl ->
            dsl.withRecursive("n", "x")
                .as(
                    select(inline(1))
                        .unionAll(
                            select(field(name("n", "x"), Integer.class).plus(1))
                                .from(table(name("n")))
                                .where(field(name("n", "x"), Integer.class).lt(5))))
                .select()
                .from(table(name("n")))
                .fetch());
    steps.put(
        "subqueries",
        dsl ->
            dsl.select(AUTHOR_NAME)
                .from(AUTHORS)
                .where(exists(selectOne().from(BOOK).where(AUTHOR.eq(AUTHOR_ID))))
                .and(notExists(selectOne().from(BOOK).where(TITLE.eq(AUTHOR_NAME))))
                .and(AUTHOR_ID.in(select(AUTHOR).from(BOOK)))
                .orderBy(AUTHOR_ID)
                .fetch());
    steps.put(
        "expressions",
        dsl ->
            dsl.select(
                    upper(trim(TITLE)),
                    coalesce(PRICE, BigDecimal.ONE),
                    case_().when(PRICE.gt(BigDecimal.TEN), "dear").otherwise("cheap"),
                    cast(ID, SQLDataType.VARCHAR(5)),
                    extract(OUT, DatePart.YEAR),
                    dateAdd(java.sql.Date.valueOf("2020-02-28"), 2, DatePart.DAY),
                    TITLE.likeIgnoreCase("%A%"),
                    substring(TITLE, 1, 2).concat(length(TITLE)))
                .from(BOOK)
                .orderBy(ID)
                .fetch());
    steps.put(
        "limit and seek",
        dsl ->
            List.of(
                dsl.select(ID).from(BOOK).orderBy(ID).limit(2).offset(1).fetch(),
                dsl.select(ID).from(BOOK).orderBy(ID).seek(2).limit(5).fetch()));
    steps.put(
        "set operations",
        dsl ->
            dsl.select(ID)
                .from(BOOK)
                .union(select(AUTHOR_ID).from(AUTHORS))
                .except(select(inline(3)))
                .intersect(select(ID).from(BOOK))
                .orderBy(1)
                .fetch());
    steps.put(
        "values",
        dsl -> dsl.selectFrom(values(row(1, "a"), row(2, "b")).as("t", "x", "y")).fetch());
    steps.put(
        "group by",
        dsl -> dsl.select(AUTHOR, count()).from(BOOK).groupBy(AUTHOR).orderBy(1).fetch());
    steps.put(
        "text and JSON of groups",
        dsl ->
            dsl.select(
                    listAgg(TITLE, ", ").withinGroupOrderBy(ID),
                    jsonArrayAgg(jsonObject(jsonEntry("id", ID), jsonEntry("t", TITLE)))
                        .orderBy(ID))
                .from(BOOK)
                .fetch());
    steps.put(
        "multiset",
        dsl ->
            dsl.select(
                    AUTHOR_NAME,
                    multiset(select(TITLE).from(BOOK).where(AUTHOR.eq(AUTHOR_ID)).orderBy(ID)))
                .from(AUTHORS)
                .orderBy(AUTHOR_ID)
                .fetch());
    steps.put("for update", dsl -> dsl.select(ID).from(BOOK).where(ID.eq(1)).forUpdate().fetch());
    steps.put("next value", dsl -> dsl.nextval("S"));
    steps.put("count", dsl -> dsl.fetchCount(select(ID).from(BOOK)));
    steps.put("exists", dsl -> dsl.fetchExists(select(ID).from(BOOK).where(ID.eq(1))));
  }

  private static void moreWrites(Map<String, Function<DSLContext, Object>> steps) {
    steps.put(
        "merge",
        dsl ->
            dsl.mergeInto(AUTHORS)
                .using(select(inline(2).as("i"), inline("Bea").as("n")).asTable("s"))
                .on(AUTHOR_ID.eq(field(name("s", "i"), Integer.class)))
                .whenMatchedThenUpdate()
                .set(AUTHOR_NAME, field(name("s", "n"), String.class))
                .whenNotMatchedThenInsert(AUTHOR_ID, AUTHOR_NAME)
                .values(field(name("s", "i"), Integer.class), field(name("s", "n"), String.class))
                .execute());
    steps.put(
        "delete returning",
        dsl -> dsl.deleteFrom(BOOK).where(TITLE.like("% II")).returning(ID).fetch());
    steps.put("select all", dsl -> dsl.selectFrom(AUTHORS).orderBy(1).fetch());
    steps.put(
        "rename",
        dsl ->
            dsl.alterTable("BOOK").renameColumn("NOTE").to("REMARK").execute()
                + dsl.alterTable("AUTHOR").alter("NAME").set(SQLDataType.VARCHAR(80)).execute());
    steps.put("truncate", dsl -> dsl.truncate(BOOK).restartIdentity().execute());
    steps.put("drop", dsl -> dsl.dropViewIfExists("V").execute() + dsl.dropSequence("S").execute());
  }

  private static void metadata(Map<String, Function<DSLContext, Object>> steps) {
    steps.put(
        "meta",
        dsl ->
            dsl.meta().getTables("BOOK").stream()
                .flatMap(t -> Stream.of(t.fields()))
                .map(f -> f.getQualifiedName() + " " + f.getDataType())
                .toList());
    steps.put("keys", dsl -> String.valueOf(dsl.meta().getPrimaryKeys("CONSTRAINT_1")));
    steps.put("ddl", dsl -> dsl.meta().filterSchemas(s -> "PUBLIC".equals(s.getName())).ddl());
  }

  @Test
  void everyStatementAnswersAsOnH2() throws SQLException {
    List<String> differences = new ArrayList<>();
    try (Connection tollgate = node.connect();
        Connection plain = DriverManager.getConnection("jdbc:h2:mem:tollgate")) {
      DSLContext here = Stock.over(tollgate);
      DSLContext h2 = Stock.over(plain);
      steps()
          .forEach(
              (what, step) -> {
                String expected = answer(step, h2);
                String actual = answer(step, here);
                assertFalse(expected.startsWith("error"), () -> what + ": " + expected);
                boolean equal = expected.equals(actual);
                if (GAPS.containsKey(what)) {
                  System.out.println(
                      "jOOQ, " + what + (equal ? " is no gap any more" : ": " + GAPS.get(what)));
                } else if (!equal) {
                  differences.add(what + "\n  H2 " + expected + "\n  here " + actual + "\n");
                }
              });
    }
    assertEquals(List.of(), differences);
    System.out.println("jOOQ: " + steps().size() + " kinds of statements compared");
    assertTrue(steps().size() > 35, "only " + steps().size());
  }

  private static String answer(Function<DSLContext, Object> step, DSLContext dsl) {
    try {
      return String.valueOf(step.apply(dsl));
    } catch (DataAccessException e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      return "error " + e.sqlState() + " " + cause.getMessage();
    }
  }
}
