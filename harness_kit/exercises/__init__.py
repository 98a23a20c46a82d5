"""What learners do with the chapters: predict, try, and check."""
