package dev.tollgate.samples.hibernate;

import jakarta.persistence.CollectionTable;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.Index;
import jakarta.persistence.Lob;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.NullUnmarked;

/** An entity with a column of each kind that gives databases trouble. */
@Entity
@Table(name = "author", indexes = @Index(name = "ix_author_name", columnList = "name"))
@NullUnmarked // Hibernate fills the fields
public class Author {
  /** Stored by name. */
  public enum Kind {
    NOVELIST,
    POET
  }

  @Id
  @GeneratedValue(strategy = GenerationType.IDENTITY)
  Long id;

  @Version int version;

  @Column(nullable = false, length = 100)
  String name;

  @Column(unique = true)
  String email;

  @Enumerated(EnumType.STRING)
  Kind kind;

  boolean active;
  BigDecimal royalties;
  LocalDate born;
  Instant lastSeen;
  Duration longestBreak;
  UUID publicId;
  double rating;
  byte[] signature;
  @Lob String biography;

  @ElementCollection
  @CollectionTable(name = "author_tag")
  List<String> tags = new ArrayList<>();

  @OneToMany(mappedBy = "author")
  List<Book> books = new ArrayList<>();
}
