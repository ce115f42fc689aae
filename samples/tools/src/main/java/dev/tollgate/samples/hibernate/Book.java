package dev.tollgate.samples.hibernate;

import jakarta.persistence.CheckConstraint;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;
import org.jspecify.annotations.NullUnmarked;

/** An entity that takes its ids from a sequence. */
@Entity
@Table(name = "book", check = @CheckConstraint(name = "book_pages", constraint = "pages > 0"))
@NullUnmarked // Hibernate fills the fields
public class Book {
  @Id
  @GeneratedValue(strategy = GenerationType.SEQUENCE)
  Long id;

  @Column(nullable = false)
  String title;

  int pages;

  @ManyToOne(fetch = FetchType.LAZY)
  Author author;
}
