/**
 * The unit tests on another Node than the packages were installed with. Addons that are compiled for one do not load there, so
 * that the bitmap index works with its own bitmaps: all of its tests run with those.
 */
const unit = require('./unit.config.cjs');
const { notUnit } = require('./files.cjs');

function loads(addon) {
  try {
    require(addon);
    return true;
  } catch {
    return false;
  }
}

const ignored = unit.testPathIgnorePatterns.filter((pattern) => !notUnit.includes(pattern));
const besideBitmaps = notUnit.map((folder) => `${folder}(?!services/bitmap/)`);

module.exports = loads('roaring') ? unit : { ...unit, testPathIgnorePatterns: [...ignored, ...besideBitmaps] };
