(module
  (memory (import "env" "memory") 1)
  ;; Dot products of `count` vectors of `size` bytes each (a multiple of 64), which lie one after another, with one query;
  ;; sixteen numbers at a time. Offsets are in bytes.
  (func (export "dots") (param $vector i32) (param $query i32) (param $size i32) (param $count i32) (param $out i32)
    (local $at i32) (local $end i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (block $done
      (loop $vectors
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $at (local.get $query))
        (local.set $end (i32.add (local.get $vector) (local.get $size)))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $c (v128.const f32x4 0 0 0 0))
        (local.set $d (v128.const f32x4 0 0 0 0))
        (loop $lanes
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $vector)) (v128.load (local.get $at)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $vector)) (v128.load offset=16 (local.get $at)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $vector)) (v128.load offset=32 (local.get $at)))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $vector)) (v128.load offset=48 (local.get $at)))))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (local.set $vector (i32.add (local.get $vector) (i32.const 64)))
          (br_if $lanes (i32.lt_u (local.get $vector) (local.get $end))))
        (local.set $a (f32x4.add (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
            (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $vectors)))))
