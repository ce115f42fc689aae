package dev.tollgate.samples.hibernate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.PersistenceException;
import jakarta.persistence.Timeout;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.h2.jdbcx.JdbcDataSource;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.boot.Metadata;
import org.hibernate.boot.MetadataSources;
import org.hibernate.boot.registry.StandardServiceRegistry;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;
import org.hibernate.cfg.AvailableSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.dialect.H2Dialect;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.exception.LockTimeoutException;
import org.hibernate.tool.hbm2ddl.SchemaExport;
import org.hibernate.tool.schema.TargetType;
import org.hibernate.tool.schema.spi.SchemaManagementException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LibraryTest {
  private static final String COLUMNS =
      "SELECT LISTAGG(TABLE_NAME || '.' || COLUMN_NAME || ' ' || DATA_TYPE || ' ' || IS_NULLABLE"
          + " || ' ' || COALESCE(CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, 0), '; ')"
          + " WITHIN GROUP (ORDER BY TABLE_NAME, COLUMN_NAME)"
          // Hibernate's own temporary tables begin with HTE
          + " FROM INFORMATION_SCHEMA.COLUMNS"
          + " WHERE TABLE_SCHEMA = 'PUBLIC' AND TABLE_NAME NOT LIKE 'HTE%'";
  private static final String CONSTRAINTS =
      "SELECT LISTAGG(TABLE_NAME || ' ' || CONSTRAINT_TYPE, '; ')"
          + " WITHIN GROUP (ORDER BY TABLE_NAME, CONSTRAINT_TYPE)"
          + " FROM INFORMATION_SCHEMA.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'PUBLIC'";

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource cluster;

  @BeforeEach
  void open() {
    cluster = new HikariDataSource();
    cluster.setJdbcUrl(node.url());
    cluster.setMaximumPoolSize(5);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void schemaIsTheOneThatHibernateMakesOnH2() throws SQLException {
    JdbcDataSource h2 = new JdbcDataSource();
    h2.setUrl("jdbc:h2:mem:library");
    try (Connection plain = DriverManager.getConnection(h2.getUrl())) {
      Library.migrate(h2);
      Library.migrate(cluster);
      for (String query : List.of(COLUMNS, CONSTRAINTS)) {
        assertEquals(TestDatabase.ask(plain, query), node.ask(query));
      }
      assertTrue(node.ask(COLUMNS).contains("AUTHOR.BIOGRAPHY CHARACTER LARGE OBJECT"));
    }
  }

  @Test
  void secondMigrationFindsNothingToDo() throws SQLException {
    Library.migrate(cluster);
    String before = node.ask(COLUMNS) + node.ask(CONSTRAINTS);
    node.ask("INSERT INTO book(id, title, pages) VALUES (1, 'Moby-Dick', 635)");
    Library.migrate(cluster);
    assertEquals(before, node.ask(COLUMNS) + node.ask(CONSTRAINTS));
    assertEquals("1", node.ask("SELECT COUNT(*) FROM book"));
  }

  @Test
  void migrationAddsWhatIsMissing() throws SQLException {
    Library.migrate(cluster);
    String complete = node.ask(COLUMNS);
    node.ask("ALTER TABLE book DROP COLUMN title");
    node.ask("DROP TABLE author_tag");
    Library.migrate(cluster);
    assertEquals(complete, node.ask(COLUMNS));
  }

  @Test
  void validationNamesTheColumnThatDoesNotFit() throws SQLException {
    Library.migrate(cluster);
    node.ask("ALTER TABLE author DROP COLUMN rating");
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      SchemaManagementException wrong =
          assertThrows(
              SchemaManagementException.class,
              () -> factory.getSchemaManager().validateMappedObjects());
      assertTrue(wrong.getMessage().contains("rating"), wrong.getMessage());
    }
  }

  @Test
  void schemaManagerExportsAndDrops() throws SQLException {
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      factory.getSchemaManager().exportMappedObjects(false);
      factory.getSchemaManager().validateMappedObjects();
      factory.getSchemaManager().dropMappedObjects(false);
      assertEquals("null", node.ask(COLUMNS));
    }
  }

  /** Hibernate switches foreign keys off to truncate, and only logs that it may not. */
  @Test
  void truncateLeavesTablesThatAreReferencedAsTheyAre() throws SQLException {
    Library.migrate(cluster);
    node.ask("INSERT INTO author(name, version, active, rating) VALUES ('Ann', 0, TRUE, 1)");
    node.ask("INSERT INTO book(id, title, pages) VALUES (1, 'Moby-Dick', 635)");
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      factory.getSchemaManager().truncateMappedObjects();
    }
    assertEquals("0", node.ask("SELECT COUNT(*) FROM book"));
    assertEquals("1", node.ask("SELECT COUNT(*) FROM author"));
    assertEquals(
        "42T01",
        assertThrows(SQLException.class, () -> node.ask("SET REFERENTIAL_INTEGRITY FALSE"))
            .getSQLState());
  }

  @Test
  void schemaExportOfBuildScripts() throws SQLException {
    StandardServiceRegistry services =
        new StandardServiceRegistryBuilder()
            .applySetting(AvailableSettings.JAKARTA_NON_JTA_DATASOURCE, cluster)
            .build();
    Metadata metadata =
        new MetadataSources(services).addAnnotatedClasses(Author.class, Book.class).buildMetadata();
    SchemaExport export = new SchemaExport().setHaltOnError(true);
    export.create(EnumSet.of(TargetType.DATABASE), metadata);
    assertEquals(List.of(), export.getExceptions());
    assertEquals(
        "3",
        node.ask(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"
                + " AND TABLE_NAME NOT LIKE 'HTE%'"));
    export.drop(EnumSet.of(TargetType.DATABASE), metadata);
    assertEquals(List.of(), export.getExceptions());
    StandardServiceRegistryBuilder.destroy(services);
  }

  @Test
  void entitiesCanBeQueried() throws SQLException {
    Library.migrate(cluster);
    node.ask(
        "INSERT INTO author(name, version, active, rating, kind, royalties, publicid)"
            + " VALUES ('Ann', 0, TRUE, 1.5, 'POET', 12.50, RANDOM_UUID())");
    node.ask("INSERT INTO author_tag(author_id, tags) SELECT id, 'sea' FROM author");
    node.ask(
        "INSERT INTO book(id, title, pages, author_id) SELECT 1, 'Moby-Dick', 635, id FROM author");
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory();
        Session session = factory.openSession()) {
      assertTrue(
          ((SessionFactoryImplementor) factory).getJdbcServices().getDialect()
              instanceof H2Dialect);
      Book book =
          session
              .createQuery("from Book b join fetch b.author a where b.pages > :pages", Book.class)
              .setParameter("pages", 100)
              .getSingleResult();
      assertEquals("Ann", book.author.name);
      assertEquals(Author.Kind.POET, book.author.kind);
      assertEquals(List.of("sea"), List.copyOf(book.author.tags));
      assertEquals(
          List.of(635L),
          session
              .createQuery(
                  "select sum(b.pages) from Author a join a.books b group by a.name", Long.class)
              .list());
    }
  }

  @Test
  void statelessSessionSavesEntitiesOneByOne() throws SQLException {
    Library.migrate(cluster);
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory();
        StatelessSession session = factory.openStatelessSession()) {
      Author author = new Author();
      author.name = "Ann";
      author.born = LocalDate.of(1819, 8, 1);
      author.longestBreak = Duration.ofDays(40);
      author.publicId = UUID.fromString("00000000-0000-4000-8000-000000000001");
      author.signature = new byte[] {1, 2, 3};
      author.biography = "sailed ".repeat(1000);
      session.insert(author);
      Book book = new Book();
      book.title = "Moby-Dick";
      book.pages = 635;
      book.author = author;
      session.insert(book);
      book.pages = 636;
      session.update(book);

      Author found = session.get(Author.class, author.id);
      assertEquals(author.born, found.born);
      assertEquals(author.longestBreak, found.longestBreak);
      assertEquals(author.publicId, found.publicId);
      assertArrayEquals(author.signature, found.signature);
      assertEquals(author.biography, found.biography);
      assertEquals("636", node.ask("SELECT pages FROM book"));
      session.delete(book);
      assertEquals("0", node.ask("SELECT COUNT(*) FROM book"));
    }
  }

  @Test
  @Tag("cluster")
  void entitiesLiveAndDieInTransactions() throws SQLException {
    Library.migrate(cluster);
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      Author author = new Author();
      author.name = "Ann";
      Book book = new Book();
      book.title = "Moby-Dick";
      book.pages = 635;
      book.author = author;
      factory.inTransaction(
          session -> {
            session.persist(author);
            session.flush();
            node.loseLeader();
            session.persist(book);
          });
      factory.inTransaction(
          session -> session.find(Book.class, book.id, LockModeType.PESSIMISTIC_WRITE).pages = 636);
      assertEquals("636", node.ask("SELECT pages FROM book"));
      assertThrows(
          PersistenceException.class,
          () ->
              factory.inTransaction(
                  session -> {
                    session.find(Book.class, book.id).pages = 700;
                    session.find(Author.class, author.id).name = "Bob";
                    session.flush();
                    node.loseLeader();
                    session.find(Book.class, book.id).pages = -1;
                  }),
          "the check constraint refuses the flush at commit");
      assertEquals("636", node.ask("SELECT pages FROM book"), "all is rolled back");
      assertEquals("Ann", node.ask("SELECT name FROM author"));
    }
  }

  @Test
  @Tag("cluster")
  void secondWriterOfAVersionIsTold() throws SQLException {
    Library.migrate(cluster);
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      Author author = new Author();
      author.name = "Ann";
      factory.inTransaction(session -> session.persist(author));
      try (Session first = factory.openSession();
          Session second = factory.openSession()) {
        first.beginTransaction();
        second.beginTransaction();
        first.find(Author.class, author.id).name = "First";
        second.find(Author.class, author.id).name = "Second";
        node.loseLeader();
        first.getTransaction().commit();
        assertThrows(OptimisticLockException.class, () -> second.getTransaction().commit());
      }
      assertEquals("First", node.ask("SELECT name FROM author"));
    }
  }

  @Test
  @Tag("cluster")
  void batchesTakeTheirIdsFromASequence() throws SQLException {
    Library.migrate(cluster);
    Configuration batching = Library.over(cluster);
    batching.setProperty(AvailableSettings.STATEMENT_BATCH_SIZE, 20);
    try (SessionFactory factory = batching.buildSessionFactory()) {
      List<Book> books = IntStream.rangeClosed(1, 130).mapToObj(LibraryTest::book).toList();
      factory.inTransaction(
          session -> {
            for (Book book : books) {
              session.persist(book);
              if (book.pages % 50 == 0) {
                session.flush();
                node.loseLeader();
              }
            }
          });
      assertEquals("130", node.ask("SELECT COUNT(*) FROM book"));
      assertEquals(
          "130", node.ask("SELECT COUNT(*) FROM book WHERE id = pages AND title = 'Part ' || id"));
    }
  }

  private static Book book(int number) {
    Book book = new Book();
    book.title = "Part " + number;
    book.pages = number;
    return book;
  }

  @Test
  @Tag("cluster")
  void pessimisticLockIsKeptUntilTheTransactionEnds() throws Exception {
    Library.migrate(cluster);
    try (SessionFactory factory = Library.over(cluster).buildSessionFactory()) {
      Book book = book(1);
      factory.inTransaction(session -> session.persist(book));
      try (Session holder = factory.openSession();
          Session other = factory.openSession()) {
        holder.beginTransaction();
        Book held = holder.find(Book.class, book.id, LockModeType.PESSIMISTIC_WRITE);
        node.loseLeader();
        other.beginTransaction();
        assertThrows(
            LockTimeoutException.class,
            () ->
                other.find(
                    Book.class, book.id, LockModeType.PESSIMISTIC_WRITE, Timeout.seconds(0)));
        other.getTransaction().rollback();
        held.pages = 2;
        holder.getTransaction().commit();
      }
      factory.inTransaction(
          session ->
              assertEquals(
                  2, session.find(Book.class, book.id, LockModeType.PESSIMISTIC_WRITE).pages));
    }
  }
}
