// The same runs, with MongoDB as the store: `npm run test:mongo`.
import './run.test';
