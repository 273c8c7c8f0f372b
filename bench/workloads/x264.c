// Encodes made-up frames by libx264, whose inner loops are in nasm's assembly.
#include <stdint.h>
#include <stdio.h>
#include <x264.h>

enum { kWidth = 320, kHeight = 240, kFrames = 40 };

static void draw(uint8_t* plane, int stride, int width, int height, int frame) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      plane[y * stride + x] = (uint8_t)((x + 3 * frame) * (y + frame) / 64 + ((x ^ y) & frame));
}

static uint32_t sum;

static void add(const uint8_t* bytes, int size) {
  for (int i = 0; i < size; ++i) sum = sum * 31 + bytes[i];
}

int main(void) {
  x264_param_t parameters;
  x264_picture_t in, out;
  x264_nal_t* units;
  int count, size, total = 0;
  x264_param_default_preset(&parameters, "medium", "");
  parameters.i_width = kWidth;
  parameters.i_height = kHeight;
  parameters.i_csp = X264_CSP_I420;
  parameters.i_threads = 1;
  parameters.i_log_level = X264_LOG_ERROR;
  x264_t* encoder = x264_encoder_open(&parameters);
  if (encoder == NULL || x264_picture_alloc(&in, X264_CSP_I420, kWidth, kHeight) != 0) return 1;
  for (int frame = 0; frame < kFrames || x264_encoder_delayed_frames(encoder) != 0; ++frame) {
    for (int p = 0; p < 3; ++p)
      draw(in.img.plane[p], in.img.i_stride[p], kWidth >> (p != 0), kHeight >> (p != 0), frame + p);
    in.i_pts = frame;
    size = x264_encoder_encode(encoder, &units, &count, frame < kFrames ? &in : NULL, &out);
    if (size < 0) return 2;
    if (size > 0) add(units[0].p_payload, size);
    total += size;
  }
  x264_encoder_close(encoder);
  printf("%d bytes, checksum %08x\n", total, sum);
  return 0;
}
