/**
 * Writes the same number into two databases, one after the other, with checkpoints that other connections make meanwhile: an argument
 * for each file. Prints a line when it has begun.
 */
const Libsql = require('libsql');

const [first, second] = process.argv.slice(2).map((file) => {
  const database = new Libsql(file, { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 40');
  database.exec('CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY, text TEXT)');
  return database;
});
const insert = [first, second].map((database) => database.prepare('INSERT INTO numbers VALUES (?, ?)'));

let n = 0;
const step = () => {
  for (let end = n + 20; n < end;) {
    n += 1;
    insert.forEach((statement) => statement.run(n, 'x'.repeat((n * 37) % 3_000)));
    if (n % 250 === 0) {
      first.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    }
  }
  if (n === 20) {
    process.stdout.write('ready\n');
  }
  setImmediate(step);
};
step();
